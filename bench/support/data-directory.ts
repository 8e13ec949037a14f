import { makeTemporaryDirectory } from '#test/support/temporary-directory.ts'

/** The path of an empty folder that is removed when this process ends, whichever way it does. */
export function makeDataDirectory(): string {
  const { path, remove } = makeTemporaryDirectory()
  process.once('exit', remove)
  return path
}
