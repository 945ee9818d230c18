// SPDX-License-Identifier: Apache-2.0
// The APIs of accelerators. Each is one row: what it is called, where its driver is, and how it differs from the
// others. All code that is not of one API alone asks the row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "device/gpu/symbols.h"
#include "max/device.h"

namespace max::gpu {

struct Driver;

// A driver's own number of an attribute.
struct AttributeNumber {
  MaxDeviceAttribute attribute;
  int number;
};

// All that a management library knows of a device beside its driver, or nothing.
struct Telemetry {
  bool hasUtilization = false;
  bool hasTemperature = false;
  bool hasPower = false;
  uint32_t utilization = 0;  // percent
  int32_t temperature = 0;   // degrees Celsius
  uint64_t power = 0;        // milliwatts
};

// DLPack's numbers for memory of the devices, for host memory that they reach, and for memory of both; 0 = it has none.
struct DlpackNumbers {
  int32_t device = 0;
  int32_t host = 0;
  int32_t managed = 0;
};

// Attributes that MaxDeviceAttribute does not have, by the driver's numbers; 0 = it does not tell.
struct LaunchAttributes {
  int mostSharedOptIn = 0;
  int mostAccessBytes = 0;
  int clusterLaunch = 0;
};

// The library of named ranges, the environment variable that names another, and its functions.
struct RangeLibrary {
  const char* variable = nullptr;
  std::span<const char* const> libraries = {};
  const char* push = nullptr;
  const char* pop = nullptr;
};

// The library of matrix products, the environment variable that names another, and its numbers.
struct ProductNumbers {
  const char* variable = nullptr;
  std::span<const char* const> libraries = {};
  const char* prefix = nullptr;  // of its functions; NULL = there is none
  int64_t oldestVersion = 0;
  bool versionNeedsHandle = false;
  int computeTypes[3] = {};            // by MaxPrecision
  int notTransposed = 0;               // an operation; the next number transposes
  int transposeA = 0, transposeB = 0;  // attributes of a product
  // What adds a bias and rectifies: attributes of a product. 0 = the library is not asked for it.
  int finish = 0, bias = 0, biasDistance = 0;
  int batchCount = 0, batchDistance = 0;  // attributes of a layout
};

struct Api {
  const char* name;  // "cuda"
  // The driver's library, newest first, and the environment variable that names another.
  std::span<const char* const> libraries;
  const char* libraryVariable;
  // The kernel's part of the driver: without any of these files the library is not opened. Empty = the library tells.
  std::span<const char* const> kernelDrivers = {};
  const SymbolNames& symbols;

  // The driver's version is majorUnit * major + minorUnit * minor.
  int majorUnit = 1000;
  int minorUnit = 10;

  // Empty: the numbers are those of MaxDeviceAttribute.
  std::span<const AttributeNumber> attributes = {};
  LaunchAttributes launchAttributes = {};
  std::string (*architecture)(const Driver& driver, int device);
  // Whether kernels that are compiled at run time can target the device.
  bool (*isCompatible)(const Driver& driver, int device);
  // Of the device at a place of the PCI bus; NULL = there is no management library.
  Telemetry (*telemetry)(const std::string& busId) = nullptr;
  RangeLibrary ranges = {};
  ProductNumbers products = {};
  DlpackNumbers dlpack = {};

  // Whose version is named when code cannot be loaded, since it may be newer than the driver; NULL = none.
  const char* toolkit = nullptr;
  // Options of moduleLoad (CUjit_option) for a log; 0 = it has none.
  int errorLogOption = 0;
  int errorLogSizeOption = 0;
  // The driver finishes a stream before it destroys it.
  bool destroyWaits = false;
  // Most threads of all blocks in one dimension; 0 = any number.
  int64_t mostThreadsInGrid = 0;
};

// In the order in which "gpu" looks for a device.
std::span<const Api* const> apis();

// NULL if there is none of this name.
const Api* findApi(std::string_view name);
// "'cuda' and 'hip'": for messages, with `beforeLast` before the last.
std::string apiNames(std::string_view beforeLast = " and ");

}  // namespace max::gpu
