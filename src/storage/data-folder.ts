import { access, constants, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

export const ownerOnly = 0o700

/**
 * Creates the data folder, readable by its owner only, and its missing parents.
 * @throws an error with a sentence if it cannot be made.
 */
export async function makeDataFolder(path: string): Promise<void> {
  try {
    await makeFolder(path)
    await access(path, constants.W_OK)
  } catch (error) {
    throw unusableFolder(path, error)
  }
}

/** Creates missing parents itself: Node's recursion never ends where none can be created, as below /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path)
  } catch (error) {
    const above = dirname(path)
    // The topmost folder has no parent: on Windows the drive might be missing.
    if (codeOf(error) !== 'ENOENT' || above === path) throw error
    await makeFolder(above)
    await makeOne(path)
  }
}

async function makeOne(path: string): Promise<void> {
  await mkdir(path, { mode: ownerOnly }).catch(async error => {
    if (codeOf(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error
  })
}

export function unusableFolder(path: string, cause: unknown): Error {
  const code = codeOf(cause)
  const isFile = code === 'EEXIST' || code === 'ENOTDIR'
  const problem = isFile ? 'is a file, or lies in one' : 'can be neither made nor written'
  const why = cause instanceof Error ? cause.message : String(cause)
  return new Error(`The data directory ${path} ${problem}. Set DATA_DIR to a folder of its own. (${why})`, {
    cause,
  })
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
