# SPDX-License-Identifier: Apache-2.0
"""Copies the small part of the suite that is committed: commit.py SUITE FOLDER.

Texts that exporters leave in models (where in whose source a node comes from) stay behind."""

import pathlib
import shutil
import sys

import onnx

CHOSEN = {
    "torch_modules": [
        "average_pool_beyond_script", "conv1d_dynamo", "deconv1d_script", "einsum_many_dynamo", "gru_script", "group_norm_script",
        "grid_sample_bicubic_border_script", "grid_sample_bilinear_reflection_dynamo", "index_apart_script", "index_put_add_dynamo",
        "lstm_both_ways_script", "mask_select_script", "negative_division_dynamo", "repeat_interleave_script",
        "resize_like_script", "scatter_reduce_dynamo", "stft_dynamo", "topk_dynamo", "attention_causal_script", "bfloat16_dynamo"],
    "torch_networks": ["batched_nms_script", "roi_align_script", "roi_pool_script"],
    "torch_scripts": ["branches_of_shapes_script", "early_end_script", "greedy_script", "growing_both_script",
        "growing_rows_script",
                      "list_of_rows_script", "pasted_masks_script", "until_small_script"],
    "torch_transformers": ["small_bert_script", "small_llama_dynamo", "small_t5_script"],
    "sklearn_models": ["bagging", "calibrated_isotonic", "columns_forest", "imputer_forest", "logistic_maps", "kernel_pca",
        "letters",
                       "mixed_columns", "mixture", "nearest", "one_hot_unknown", "quantiles", "svr", "target_encoder", "texts_logistic"],
    "boosted_models": ["cat_holes", "extreme_holes", "extreme_three", "light_categories", "light_three", "light_zeros_missing"],
    "converted_models": ["dynamic_s8_tagger", "four_bits_perceptron_level_4", "four_bits_perceptron_blocks_qdq_zero_points",
                         "four_bits_tagger_gather", "half_runtime_convolutions_turned", "half_runtime_attention_kept",
                         "optimised_extended_attention", "qdq_channels_perceptron_extended", "qdq_u16_21_perceptron",
                         "qoperator_convolutions"],
    "tensorflow_models": ["arrays", "batch_space", "growing", "lstm_both_ways", "reverse_sequence", "strided_slices", "suppressed",
        "until"],
}
LARGEST = 80_000  # bytes of a model with its data


class Names:
    """Short names of values, the same for a name wherever it stands; those of inputs and outputs stay."""

    def __init__(self, graph):
        self.short = {name: name for name in ["", *(value.name for value in (*graph.input, *graph.output))]}

    def of(self, name):
        return self.short.setdefault(name, f"v{len(self.short)}")


def bare(proto):
    """Without texts that are about the model."""
    names = Names(proto.graph)
    proto.doc_string = ""
    del proto.metadata_props[:]
    for function in proto.functions:
        function.doc_string = ""
        for part in (function.input, function.output):
            part[:] = [names.of(name) for name in part]
        del function.metadata_props[:], function.value_info[:]
        bare_nodes(function, names)
    bare_graph(proto.graph, names)
    return proto


def bare_graph(graph, names):
    for part in (graph, *graph.initializer, *graph.input, *graph.output, *graph.value_info):
        part.doc_string = ""
        del part.metadata_props[:]
        if part is not graph:
            part.name = names.of(part.name)
    bare_nodes(graph, names)


def bare_nodes(holder, names):
    for node in holder.node:
        node.doc_string = node.name = ""
        del node.metadata_props[:]
        for part in (node.input, node.output):
            part[:] = [names.of(name) for name in part]
        for attribute in node.attribute:
            attribute.doc_string = ""
            for graph in (attribute.g, *attribute.graphs):
                if attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS):
                    bare_graph(graph, names)


def main(suite, folder):
    suite, folder = pathlib.Path(suite), pathlib.Path(folder)
    total = 0
    for family, names in CHOSEN.items():
        shutil.rmtree(folder / family, ignore_errors=True)
        (folder / family).mkdir(parents=True)
        for name in sorted(names):
            source, target = suite / family / name, folder / family / name
            proto = bare(onnx.load(source.with_suffix(".onnx")))
            target.with_suffix(".onnx").write_bytes(proto.SerializeToString(deterministic=True))
            shutil.copyfile(source.with_suffix(".npz"), target.with_suffix(".npz"))
            size = sum(target.with_suffix(part).stat().st_size for part in (".onnx", ".npz"))
            if size > LARGEST:
                return f"{family}/{name} has {size} bytes"
            total += size
    print(f"{sum(map(len, CHOSEN.values()))} models, {total} bytes")
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
