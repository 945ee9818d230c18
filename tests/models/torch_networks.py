# SPDX-License-Identifier: Apache-2.0
"""Image networks of torchvision with random weights: classification, segmentation, detection with non-maximum
suppression, and the operators of torchvision alone."""

import numpy as np
import torch
from torch import nn
from torchvision import models as zoo
from torchvision import ops

import torch_export
from suite import f, i, u
from torch_modules import call


def images(channels=3, *sizes):
    return [[u(*size[:1], channels, *size[1:])] for size in sizes or ((2, 32, 32), (1, 48, 40))]


def settled(network):
    """Statistics of a network that has seen something, so that values neither vanish nor explode."""
    for layer in network.modules():
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            layer.momentum = None
    network.train()
    with torch.no_grad():
        for _ in range(2):
            network(torch.rand(4, 3, 64, 64))
    return network.eval()


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([self.block(3, 8), self.block(8, 16), self.block(16, 32)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)])
        self.join = nn.ModuleList([self.block(32, 16), self.block(16, 8)])
        self.last = nn.Conv2d(8, 2, 1)

    @staticmethod
    def block(inside, outside):
        return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU())

    def forward(self, x):
        kept = []
        for block in self.down[:-1]:
            kept.append(block(x))
            x = nn.functional.max_pool2d(kept[-1], 2)
        x = self.down[-1](x)
        for up, join, same in zip(self.up, self.join, reversed(kept)):
            x = join(torch.cat([up(x), same], 1))
        return self.last(x).softmax(1)


class Detector(nn.Module):
    """A detector like YOLO: anchors on two grids, decoding, non-maximum suppression."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 24, 3, 2, 1), nn.SiLU())
        self.next = nn.Sequential(nn.Conv2d(24, 24, 3, 2, 1), nn.SiLU())
        self.heads = nn.ModuleList([nn.Conv2d(24, 9, 1), nn.Conv2d(24, 9, 1)])

    def grid(self, y, stride):
        h, w = y.shape[-2:]
        rows, columns = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        centre = torch.stack([columns, rows], 0).float()[None] + y[:, :2].sigmoid()
        size = y[:, 2:4].exp() * stride
        return torch.cat([centre * stride - size / 2, centre * stride + size / 2, y[:, 4:].sigmoid()], 1).flatten(2)

    def forward(self, x):
        a = self.stem(x)
        c = self.next(a)
        found = torch.cat([self.grid(self.heads[0](a), 4), self.grid(self.heads[1](c), 8)], 2)[0].T
        boxes, scores = found[:, :4], found[:, 4:].amax(-1)
        kept = ops.nms(boxes, scores, 0.5)
        return boxes[kept], scores[kept], found[kept, 5:].argmax(-1)


class OnlyOut(nn.Module):
    """Segmentation networks give a dict."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(x)["out"]


class Detection(nn.Module):
    """Detection networks take a list of images."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return tuple(self.network([x])[0].values())


def small_vision_transformer():
    return zoo.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=5)


def with_head(network):
    """Heads begin at zero in some transformers, which hides what lies before."""
    for part in network.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=0.1)
    return network


CLASSIFIERS = [
    ("resnet18", lambda: settled(zoo.resnet18(num_classes=10)), images()),
    ("resnet50_narrow", lambda: settled(zoo.ResNet(zoo.resnet.Bottleneck, [1, 1, 1, 1], 7, width_per_group=16)), images()),
    ("resnext", lambda: settled(zoo.ResNet(zoo.resnet.Bottleneck, [1, 1, 1, 1], 7, groups=4, width_per_group=8)), images()),
    ("mobilenet_v2", lambda: settled(zoo.mobilenet_v2(num_classes=10, width_mult=0.35)), images()),
    ("mobilenet_v3", lambda: settled(zoo.mobilenet_v3_small(num_classes=10, width_mult=0.5)), images()),
    ("efficientnet_b0", lambda: settled(zoo.efficientnet_b0(num_classes=10)), images()),
    ("squeezenet", lambda: zoo.squeezenet1_1(num_classes=10), images()),
    ("shufflenet", lambda: settled(zoo.shufflenet_v2_x0_5(num_classes=10)), images()),
    ("mnasnet", lambda: settled(zoo.mnasnet0_5(num_classes=10)), images()),
    ("densenet", lambda: settled(zoo.DenseNet(8, (2, 2, 2), 16, num_classes=10)), images()),
    ("googlenet", lambda: settled(zoo.googlenet(num_classes=10, aux_logits=False, init_weights=False)), images()),
    ("regnet", lambda: settled(zoo.regnet_y_400mf(num_classes=10)), images()),
    ("vgg11_narrow", lambda: nn.Sequential(zoo.vgg.make_layers([8, "M", 16, "M", 32, "M"], True), nn.AdaptiveAvgPool2d(1),
     nn.Flatten(), nn.Linear(32, 5)), images()),
    ("convnext", lambda: zoo.ConvNeXt([zoo.convnext.CNBlockConfig(16, 32, 1), zoo.convnext.CNBlockConfig(32, None, 1)],
     num_classes=10, layer_scale=0.5), images()),
    ("swin", lambda: with_head(zoo.SwinTransformer([4, 4], 16, [2, 2], [2, 2], [4, 4], num_classes=5)),
     [[u(2, 3, 32, 32)], [u(3, 3, 32, 32)]]),
    ("vision_transformer", lambda: with_head(small_vision_transformer()), [[u(2, 3, 32, 32)], [u(5, 3, 32, 32)]]),
    ("unet", UNet, [[u(2, 3, 32, 32)], [u(1, 3, 48, 64)]], "script"),
    ("unet_fixed", UNet, [[u(2, 3, 32, 32)], [u(3, 3, 32, 32)]]),
]

SEGMENTATION = [
    ("deeplab_mobilenet", lambda: OnlyOut(settled(zoo.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None,
     num_classes=4))),
     [[u(2, 3, 64, 64)], [u(1, 3, 80, 64)]], "script"),
    ("deeplab_mobilenet_fixed", lambda: OnlyOut(settled(zoo.segmentation.deeplabv3_mobilenet_v3_large(weights=None,
     weights_backbone=None, num_classes=4))),
     [[u(2, 3, 64, 64)], [u(3, 3, 64, 64)]], "dynamo"),
    ("lraspp", lambda: OnlyOut(settled(zoo.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None,
     num_classes=4))),
     [[u(2, 3, 64, 64)], [u(1, 3, 80, 64)]], "script"),
]

DETECTION = [
    ("yolo_like", Detector, [[u(1, 3, 64, 64)], [u(1, 3, 48, 80)]], "script"),
    ("yolo_like_fixed", Detector, [[u(1, 3, 64, 64)], [u(1, 3, 64, 64)]], "dynamo"),
    ("ssdlite", lambda: Detection(settled_detector(zoo.detection.ssdlite320_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=4, detections_per_img=20))), [[u(3, 96, 96)], [u(3, 96, 96)]], "script"),
    ("faster_rcnn", lambda: Detection(settled_detector(zoo.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=4, min_size=96, max_size=128, box_score_thresh=0.0, rpn_post_nms_top_n_test=30,
        box_detections_per_img=20))), [[u(3, 96, 96)], [u(3, 96, 96)]], "script"),
    ("retinanet", lambda: Detection(settled_detector(zoo.detection.RetinaNet(
        zoo.detection.backbone_utils.mobilenet_backbone("mobilenet_v3_small", weights=None, fpn=True, norm_layer=nn.BatchNorm2d), 4,
        anchor_generator=anchors(3), min_size=96, max_size=128,
        score_thresh=0.0, detections_per_img=20, topk_candidates=30))), [[u(3, 96, 96)], [u(3, 96, 96)]], "script"),
]


def anchors(levels):
    return zoo.detection.anchor_utils.AnchorGenerator(((32,),) * levels, ((0.5, 1.0, 2.0),) * levels)


def settled_detector(network):
    """As settled, with the backbone alone, and weights of heads large enough to tell boxes apart."""
    settled(network.backbone)
    torch.manual_seed(5)
    for name, part in network.named_modules():
        if isinstance(part, nn.Conv2d) and "backbone" not in name:
            nn.init.normal_(part.weight, std=0.05)
    return network


def rois(count, batch, size):
    def draw(random):
        corner = random.random((count, 2)) * size / 2
        box = np.concatenate([random.integers(0, batch, (count, 1)), corner, corner + 2 + random.random((count, 2)) * size / 2], 1)
        return box.astype(np.float32)
    return draw


def boxes(count):
    def draw(random):
        corner = random.random((count, 2)) * 20
        return np.concatenate([corner, corner + 1 + random.random((count, 2)) * 10], 1).astype(np.float32)
    return draw


OPERATORS = [
    ("roi_align", call(lambda x, r: ops.roi_align(x, r, (3, 4), 0.5, 2, True)),
     [[f(2, 3, 16, 16), rois(5, 2, 20)], [f(1, 3, 20, 12), rois(2, 1, 20)]], "script"),
    ("roi_align_adaptive", call(lambda x, r: ops.roi_align(x, r, (3, 3), 0.5, -1, False)),
     [[f(2, 3, 16, 16), rois(5, 2, 20)], [f(2, 3, 16, 16), rois(3, 2, 20)]]),
    ("roi_pool", call(lambda x, r: ops.roi_pool(x, r, (3, 4), 0.5)), [[f(2, 3, 16, 16), rois(5, 2, 20)]], "script"),
    ("nms", call(lambda x, y: ops.nms(x, y, 0.3)), [[boxes(30), u(30)], [boxes(8), u(8)]]),
    ("batched_nms", call(lambda x, y, z: ops.batched_nms(x, y, z, 0.3)), [[boxes(30), u(30), i(3, 30)], [boxes(8), u(8), i(3, 8)]],
     "script"),
    ("box_iou", call(ops.box_iou), [[boxes(6), boxes(4)], [boxes(2), boxes(9)]]),
    ("clip_boxes", call(lambda x: ops.clip_boxes_to_image(x, (18, 22))), [[boxes(6)], [boxes(9)]]),
    ("squeeze_excitation", lambda: ops.SqueezeExcitation(8, 2), [[f(2, 8, 9, 8)], [f(1, 8, 6, 11)]]),
    ("feature_pyramid", lambda: Pyramid(), [[f(2, 3, 32, 32)], [f(1, 3, 64, 32)]]),
]


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 6, 3, 2, 1)])
        self.pyramid = ops.FeaturePyramidNetwork([4, 6], 5)

    def forward(self, x):
        first = self.parts[0](x)
        return tuple(self.pyramid({"a": first, "b": self.parts[1](first)}).values())


def models():
    yield from torch_export.cases(OPERATORS + CLASSIFIERS + SEGMENTATION + DETECTION)
