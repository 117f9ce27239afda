"""The computation of multilingual-e5-small as an ONNX graph without its weights: `e5-small.onnx` beside this file.

`python -m streams.adapters.embedders.e5.graph` writes it (with `onnx` installed); a test compares the two. The weights
come from the model file when it is loaded (`initializers`), so that nothing is stored twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from streams.adapters.embedders.e5.weights import BLOCK, ModelFile, unpacked

if TYPE_CHECKING:
    from onnx import ModelProto

GRAPH = Path(__file__).with_name("e5-small.onnx")
# Inputs: embedded tokens (texts, tokens, width) with what follows a text's end ignored, and each text's number of
# tokens (texts,). Output: a vector a token.
TOKENS, LENGTHS, STATES = "tokens", "lengths", "states"

# Products of a layer: name here, names of the matrices in the file whose rows they are, their inputs and outputs as
# multiples of the model's width.
_PRODUCTS = (("qkv", ("q", "k", "v"), 1, 3), ("ao", ("ao",), 1, 1), ("fi", ("fi",), 1, 4), ("fo", ("fo",), 4, 1))
_NORMS = ("aln", "oln")
# Compute in 32-bit floats: as exact as the weights, and faster here on a batch than in 8-bit integers.
_FLOATS = 1


def initializers(file: ModelFile) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every constant of the graph by name."""
    yield from _norm(file, "emb.ln")
    for layer in range(file.layers):
        for name, parts, inputs, _ in _PRODUCTS:
            matrix = unpacked(np.concatenate([file.blocks(f"l{layer}.{p}.w", inputs * file.width) for p in parts]))
            # The operator wants neighbours in one byte.
            yield f"l{layer}.{name}.values", matrix.values[..., 0::2] | matrix.values[..., 1::2] << 4
            yield f"l{layer}.{name}.scales", matrix.scales
            yield f"l{layer}.{name}.bias", np.concatenate([file.floats(f"l{layer}.{part}.b") for part in parts])
        for norm in _NORMS:
            yield from _norm(file, f"l{layer}.{norm}")


def _norm(file: ModelFile, name: str) -> Iterator[tuple[str, NDArray[Any]]]:
    yield f"{name}.scale", file.floats(f"{name}.w")
    yield f"{name}.bias", file.floats(f"{name}.b")


def build(file: ModelFile) -> ModelProto:
    """The graph for a model of this file's shape."""
    from onnx import TensorProto, helper

    nodes = []

    def node(operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        outputs = [output] if operator != "Split" else [f"{output}.{part}" for part in "qkv"]
        nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **attributes))
        return output

    def product(layer: int, index: int, of: str) -> str:
        name, _, inputs, outputs = _PRODUCTS[index]
        full = f"l{layer}.{name}"
        return node(
            "MatMulNBits",
            [of, f"{full}.values", f"{full}.scales", "", "", f"{full}.bias"],
            full,
            "com.microsoft",
            K=inputs * file.width,
            N=outputs * file.width,
            bits=4,
            block_size=BLOCK,
            accuracy_level=_FLOATS,
        )

    def norm(name: str, of: str) -> str:
        inputs = [of, f"{name}.scale", f"{name}.bias"]
        return node("LayerNormalization", inputs, name, axis=-1, epsilon=file.epsilon)

    states = norm("emb.ln", TOKENS)
    for layer in range(file.layers):
        own = f"l{layer}"
        heads = node("Split", [product(layer, 0, states)], f"{own}.heads", axis=-1, num_outputs=3)
        attended = node(
            "MultiHeadAttention",
            [*(f"{heads}.{part}" for part in "qkv"), "", LENGTHS],
            f"{own}.attended",
            "com.microsoft",
            num_heads=file.heads,
        )
        states = norm(f"{own}.aln", node("Add", [states, product(layer, 1, attended)], f"{own}.seen"))
        inner = node("Gelu", [product(layer, 2, states)], f"{own}.inner", "com.microsoft")
        states = norm(f"{own}.oln", node("Add", [states, product(layer, 3, inner)], f"{own}.thought"))
    node("Identity", [states], STATES)

    constants = [_outside(name, array, helper, TensorProto) for name, array in initializers(file)]
    shape = ["texts", "tokens", file.width]
    graph = helper.make_graph(
        nodes,
        "multilingual-e5-small",
        [
            helper.make_tensor_value_info(TOKENS, TensorProto.FLOAT, shape),
            helper.make_tensor_value_info(LENGTHS, TensorProto.INT32, ["texts"]),
        ],
        [helper.make_tensor_value_info(STATES, TensorProto.FLOAT, shape)],
        constants,
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="memstream")


def _outside(name: str, array: NDArray[Any], helper: Any, kinds: Any) -> Any:
    """A constant of which the graph holds name, type and shape."""
    constant = kinds(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape)
    constant.data_location = kinds.EXTERNAL
    constant.external_data.add(key="location", value="given-when-loaded")
    return constant


def values(file: ModelFile) -> Mapping[str, Any]:
    """The constants as ONNX Runtime takes them. They must live until the session is made."""
    from onnxruntime import OrtValue

    return {name: OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for name, array in initializers(file)}


if __name__ == "__main__":
    from streams.adapters.embedders.e5.model import model_path

    GRAPH.write_bytes(build(ModelFile(model_path())).SerializeToString(deterministic=True))
