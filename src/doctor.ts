/** `npm run doctor`: describes who has access, and advises. Ends with 1 if a stranger could change data. */

import { afterSignIn } from '#infrastructure/first-sign-in.ts'
import { readData } from './doctor/data.ts'
import { describe } from './doctor/describe.ts'
import { examine } from './doctor/examine.ts'
import type { Finding } from './doctor/finding.ts'
import { withData } from './doctor/open-data.ts'
import { configurationOrExit, exitBecause, failed } from './exit.ts'

const configuration = configurationOrExit()
const data = await withData(configuration, reader => readData(reader, configuration)).catch(error =>
  exitBecause('The data could not be examined', error),
)
const inForce = data?.hasSignedIn ? afterSignIn(configuration) : configuration
const found = examine(inForce, data)

function section(title: string, findings: readonly Finding[]): string {
  if (findings.length === 0) return ''
  return `\n${title}\n${findings.map(({ problem, change }) => `  - ${problem}\n    ${change}\n`).join('')}`
}

const open = found.filter(({ level }) => level === 'stranger')
const rest = found.filter(({ level }) => level === 'risk')
process.stdout.write(
  `What is open to whom\n${describe(inForce)
    .map(line => `  - ${line}\n`)
    .join('')}` +
    section('A stranger could change something', open) +
    section('Worth changing', rest) +
    (found.length === 0 ? '\nNothing needs to be changed.\n' : ''),
)
if (open.length > 0) process.exitCode = failed
