/** Makes a temporary folder whose path begins as its first argument says, prints the path, and lives on. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '#platform/temporary-folder.ts'

const folder = await makeTemporaryFolder(process.argv[2] ?? '')
writeFileSync(join(folder, 'content'), 'secret')
process.stdout.write(`${folder}\n`)
setInterval(() => {}, 60_000)
