module github.com/max-runtime/max/examples/go

go 1.24

require github.com/max-runtime/max/bindings/go v0.0.0

require github.com/ebitengine/purego v0.9.1 // indirect

replace github.com/max-runtime/max/bindings/go => ../../bindings/go
