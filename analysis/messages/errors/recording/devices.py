"""Errors of a device that a recording names, and of the data type it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

DevicesError = Literal[
    "device_driver_too_old",
    "device_failed",
    "device_not_in_build",
    "device_not_there",
    "device_not_usable",
    "device_out_of_memory",
    "device_unknown",
    "dtype_unknown",
    "option_of_devices",
    "option_of_engines",
    "variant_of_devices",
]
_OTHER_BUILD = Message(
    "Name an environment that has it with `fusescope runtimes use {engine:name} --python …`, or "
    "leave --device out."
)
DEVICES: Mapping[DevicesError, ErrorText] = {
    "device_driver_too_old": ErrorText(
        Message(
            "The driver of {device:name} is too old for this PyTorch {version:name}: {reason:name}"
        ),
        Message("Update the driver, or use a PyTorch that was built for an older one."),
    ),
    "device_failed": ErrorText(
        Message("The device {device:name} failed: {reason:name}"),
        Message(
            "Look in the log of the system for what the driver says of it, and record again. If it "
            "fails again in the same place, the model or a kernel of it is what fails."
        ),
    ),
    "device_not_in_build": ErrorText(
        Message("{engine:name} {version:name} was built without {device:name}"), _OTHER_BUILD
    ),
    "device_not_there": ErrorText(
        Message("There is no device {device:name}: {engine:name} sees {count:count} of this kind"),
        Message("They are numbered from 0. Variables such as CUDA_VISIBLE_DEVICES hide devices."),
    ),
    "device_not_usable": ErrorText(
        Message("{engine:name} cannot use {device:name}: {reason:name}"),
        Message("Check that the driver is installed and that your user may open the device."),
    ),
    "device_out_of_memory": ErrorText(
        Message("The model needs more memory than {device:name} has free, {free:capacity}"),
        Message("Use a smaller batch or input, or end what else uses the device."),
    ),
    "device_unknown": ErrorText(
        Message("There is no device {device:name} for a recording"),
        Message("Choose one of {known:name}, with its number where there are several: cuda:1."),
    ),
    "dtype_unknown": ErrorText(
        Message("There is no data type {dtype:name} for a recording"),
        Message("Choose one of {known:name}."),
    ),
    "option_of_devices": ErrorText(
        Message("The option {option:name} is only for the devices {devices:name}"),
        Message("Leave it out, or name such a device with --device."),
    ),
    "option_of_engines": ErrorText(
        Message("The engine {runtime:name} has nothing for the option {option:name}"),
        Message("Leave it out, or record with one of {engines:name}."),
    ),
    "variant_of_devices": ErrorText(
        Message("Only the devices {devices:name} have the variant {variant:name}"),
        Message("Leave it out of --variants, or name such a device with --device."),
    ),
}
