// SPDX-License-Identifier: Apache-2.0
// One run as one file, to carry to another machine: a database of the same format that holds just that run.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/record/database.h"
#include "core/record/records.h"

namespace dsa {

/// What import does with a run whose uuid is here already.
enum class OnSameRun { refuse, replace };

/// Writes run `run` of the database at `databasePath` to the new file `bundlePath`, with its attempts, samples, events,
/// commands and tags. Memory does not grow with the run; trainers go on writing. A run that is active is exported as
/// interrupted. Errors input: no such run, the file exists. Errors machine: space, permission; then no file is left.
Result<void> exportRun(const std::string& databasePath, RunId run, const std::string& bundlePath);

/// Copies the runs of `bundlePath` (a bundle, or any database of ours; an older one is lifted in a copy) into the
/// database, all or none. The uuid is the run's identity, its number is given anew. Gives the new numbers. Errors
/// input: no bundle, damaged, newer; a run is here already (refuse) or is here and active (replace).
Result<std::vector<RunId>> importRuns(const std::string& databasePath, const std::string& bundlePath,
                                      OnSameRun onSameRun);

}  // namespace dsa
