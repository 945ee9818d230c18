// SPDX-License-Identifier: Apache-2.0
//! Every order of dropping is right.

use std::any::Any;

use max::{Buffer, Captured, DType, Device, Event, Graph, Module, Session, Stream, Value, Weights};

use crate::fixture::{DIGITS, TemporaryFile, adder, leaks};

fn all_orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![vec![]] };
    let insert = |order: Vec<usize>| (0..count).map(move |place| [&order[..place], &[last], &order[place..]].concat());
    all_orders(last).into_iter().flat_map(insert).collect()
}

fn drop_in_order(mut objects: Vec<Option<Box<dyn Any>>>, order: &[usize]) {
    for &place in order {
        drop(objects[place].take());
    }
}

#[test]
fn devices_streams_buffers_and_models() {
    let _leaks = leaks();
    for order in all_orders(6) {
        let device = Device::cpu().unwrap();
        let stream = Stream::new(&device).unwrap();
        let event = Event::new(&device).unwrap();
        let mut buffer = Buffer::options().stream(&stream).create(DType::FLOAT32, &[16]).unwrap();
        buffer.fill(1.0f32).unwrap();
        stream.record(&event).unwrap();
        let view = buffer.slice(4..).unwrap();
        let clone = view.clone();
        let objects: Vec<Option<Box<dyn Any>>> = vec![
            Some(Box::new(device)),
            Some(Box::new(stream)),
            Some(Box::new(event)),
            Some(Box::new(buffer)),
            Some(Box::new(view)),
            Some(Box::new(clone)),
        ];
        drop_in_order(objects, &order);
    }
}

#[test]
fn sessions_models_and_what_they_give() {
    let _leaks = leaks();
    for order in all_orders(5) {
        let session = Session::new().unwrap();
        let model = session.load(DIGITS).unwrap();
        let info = model.info().unwrap();
        let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8]).unwrap();
        let outputs = model.execute(&[&image]).unwrap();
        let objects: Vec<Option<Box<dyn Any>>> = vec![
            Some(Box::new(session)),
            Some(Box::new(model)),
            Some(Box::new(info)),
            Some(Box::new(image)),
            Some(Box::new(outputs)),
        ];
        drop_in_order(objects, &order);
    }
}

#[test]
fn the_rest() {
    let _leaks = leaks();
    let path = TemporaryFile::new(".max");
    Buffer::scalar(1.0f32).unwrap().save(&path, None).unwrap();
    for order in all_orders(5) {
        let weights = Weights::load(&path).unwrap();
        let value = Value::tensor(&weights.get("tensor").unwrap()).unwrap();
        let module = Module::compile(&Device::cpu().unwrap(), "extern \"C\" __global__ void nothing() {}").unwrap();
        let kernel = module.kernel("nothing").unwrap();
        let graph = Graph::new("graph").unwrap();
        let x = graph.input("x", DType::FLOAT32, &[1]).unwrap();
        let model = adder();
        let input = Buffer::from_slice(&[1.0f32], &[1]).unwrap();
        let captured = Captured::new(&model, &[&input, &input]).unwrap();
        let objects: Vec<Option<Box<dyn Any>>> = vec![
            Some(Box::new((weights, kernel))),
            Some(Box::new((value, module))),
            Some(Box::new((graph, model))),
            Some(Box::new((x, input))),
            Some(Box::new(captured)),
        ];
        drop_in_order(objects, &order);
    }
}

#[test]
fn what_may_go_to_other_threads() {
    fn anywhere<T: Send + Sync>() {}
    anywhere::<Device>();
    anywhere::<Stream>();
    anywhere::<Event>();
    anywhere::<Buffer>();
    anywhere::<Module>();
    anywhere::<max::Kernel>();
    anywhere::<Session>();
    anywhere::<max::Model>();
    anywhere::<max::ModelInfo>();
    anywhere::<Value>();
    anywhere::<Weights>();
    anywhere::<max::Cancellation>();
    anywhere::<Captured>();
    anywhere::<max::Execution>();
    anywhere::<max::HostMemory>();
    anywhere::<max::Elements<'_, f32>>();
    anywhere::<max::log::Listener>();
    anywhere::<max::Error>();
}
