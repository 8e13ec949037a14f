/** Holds the data directory of its first argument until it is killed. */
import { openDataDirectory } from '#storage/sqlite/connections/data-directory.ts'

await openDataDirectory(process.argv[2] ?? '')
process.stdout.write('held\n')
process.stdin.resume()
