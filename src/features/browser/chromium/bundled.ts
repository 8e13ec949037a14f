import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createBrotliDecompress } from 'node:zlib'
import { AppError } from '#platform/errors.ts'
import { makeTemporaryFolder, removeTemporaryFolder } from '#platform/temporary-folder.ts'
import { browserUser } from './browser-user.ts'
import { fontsConfiguration } from './fonts-configuration.ts'

/** A browser that can be started. */
export interface Program {
  path: string
  /** Folder with libraries that a bare system lacks; absent for the operator's own browser. */
  libraries?: string
  /** Folder with the fonts' configuration; absent for the operator's own browser. */
  fonts?: string
}

const version = '153.0.0'

let unpacking: Promise<Program> | undefined

/**
 * Returns the browser of the package, and unpacks it once: into the data directory, or, if the browser's user
 * can't pass through that, into a folder beside the system's other temporary files.
 * @throws AppError BROWSER_UNAVAILABLE on an unsupported system.
 */
export function bundledChromium(dataDirectory: string): Promise<Program> {
  unpacking ??= unpackOnce(dataDirectory).catch(error => {
    unpacking = undefined
    throw error
  })
  return unpacking
}

async function unpackOnce(dataDirectory: string): Promise<Program> {
  requireSystem()
  const folder = await folderFor(dataDirectory)
  if (!(await isUnpacked(folder))) await unpackInto(folder)
  return { path: join(folder, 'chromium'), libraries: join(folder, 'lib'), fonts: join(folder, 'fonts') }
}

function requireSystem(): void {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  if (process.platform === 'linux' && process.arch === 'x64' && header.glibcVersionRuntime) return
  throw new AppError(
    'BROWSER_UNAVAILABLE',
    `The bundled browser is for Linux on x64 with glibc only, not for this machine (${process.platform} ${process.arch}). Install Chromium or Chrome and set CHROMIUM_PATH to its program.`,
  )
}

function foldersFor(dataDirectory: string) {
  return {
    inData: join(dataDirectory, 'chromium', version),
    besideOthers: join(tmpdir(), `agentstead-chromium-${version}`),
  }
}

/** Returns the path prefixes of browsers that are still being unpacked. */
export function unfinishedBrowsers(dataDirectory: string): string[] {
  return Object.values(foldersFor(dataDirectory)).map(folder => `${folder}.`)
}

async function folderFor(dataDirectory: string): Promise<string> {
  const { inData, besideOthers } = foldersFor(dataDirectory)
  if (browserUser === undefined || (await isPassable(dataDirectory))) return inData
  if (await isPassable(tmpdir())) return besideOthers
  throw new AppError(
    'BROWSER_UNAVAILABLE',
    `The browser runs as another user, who can't reach ${tmpdir()}. Set TMPDIR to a folder that every user can pass through.`,
  )
}

/** True if every user may pass through the folder and its parents. */
async function isPassable(folder: string): Promise<boolean> {
  const isOpen = ((await stat(folder)).mode & 0o001) !== 0
  return isOpen && (folder === dirname(folder) || (await isPassable(dirname(folder))))
}

/** Another user could have put a folder of this name among the temporary files. */
async function isUnpacked(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined)
  if (found === undefined) return false
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return true
  throw new AppError(
    'BROWSER_UNAVAILABLE',
    `${folder} is not as this service leaves it: it should be a folder of its own that nobody else may write to. Remove it.`,
  )
}

/** Unpacks into another folder first, so that no process finds half of it, and several can unpack at once. */
async function unpackInto(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  const making = await makeTemporaryFolder(`${folder}.`)
  const archives = new URL('../bin/', import.meta.resolve('@sparticuz/chromium'))
  const archive = (name: string) => createReadStream(new URL(name, archives))
  try {
    await mkdir(join(making, 'fonts'))
    const { extract } = await import('tar-fs')
    const unpack = async (name: string, into: string) => {
      // The owners in the archive are users of another machine.
      const files = extract(into, { chown: false } as object)
      await pipeline(archive(name), createBrotliDecompress(), files)
    }
    await pipeline(
      archive('chromium.br'),
      createBrotliDecompress(),
      createWriteStream(join(making, 'chromium'), { mode: 0o755 }),
    )
    await unpack('swiftshader.tar.br', making)
    await unpack('al2023.tar.br', making)
    await unpack('fonts.tar.br', making)
    await addFonts(join(making, 'fonts'), join(folder, 'fonts'))
    await chmod(making, 0o755)
    await rename(making, folder)
  } catch (error) {
    if (!(await isUnpacked(folder))) throw error
  } finally {
    await removeTemporaryFolder(making)
  }
}

/** @param final the final path of the folder. */
async function addFonts(folder: string, final: string): Promise<void> {
  const packages = {
    dejavu: new URL('ttf/', import.meta.resolve('dejavu-fonts-ttf/package.json')),
    emoji: new URL('400Regular/', import.meta.resolve('@expo-google-fonts/noto-color-emoji/package.json')),
  }
  for (const [name, from] of Object.entries(packages))
    await cp(fileURLToPath(from), join(folder, name), {
      recursive: true,
      filter: path => !/\.(?:js|ts|png)$/.test(path),
    })
  await writeFile(join(folder, 'fonts.conf'), fontsConfiguration(final))
  const cache = join(folder, 'cache')
  await mkdir(cache)
  if (browserUser !== undefined) await chown(cache, browserUser.uid, browserUser.gid)
}
