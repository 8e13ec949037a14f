import type { Configuration } from '#configuration/configuration.ts'
import { findInConfiguration } from './configuration-findings.ts'
import type { DataFacts } from './data.ts'
import { findInData } from './data-findings.ts'
import { findInFiles } from './files.ts'
import type { Finding } from './finding.ts'

/** Returns all faults of a set-up; without `data`, only the faults in its configuration and its files. */
export function examine(configuration: Configuration, data?: DataFacts): Finding[] {
  return [
    ...findInConfiguration(configuration),
    ...findInFiles(configuration),
    ...(data === undefined ? [] : findInData(data, configuration)),
  ]
}
