/**
 * The service in one file, for servers that tests start: to load the sources takes a quarter of the processor time of a start.
 * `test/process/main.test.ts` starts the sources, as `npm start` does.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = `${root}node_modules/.cache/server`
let bundle: Promise<string> | undefined

/** Returns the path of the bundle of the present sources; the first worker that needs it builds it. */
export function serverBundle(): Promise<string> {
  bundle ??= findOrBuild(`${folder}/${versionOfSources()}`)
  return bundle
}

function versionOfSources(): string {
  const hash = createHash('sha256')
  for (const file of globSync('src/**/*.{ts,mjs}', { cwd: root }).toSorted()) {
    const { mtimeMs, size } = statSync(root + file)
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

/** Workers that need it at once each build it; the first that ends keeps its folder. */
async function findOrBuild(target: string): Promise<string> {
  const file = `${target}/main.mjs`
  if (existsSync(file)) return file
  const unfinished = `${target}.${process.pid}`
  await buildInto(unfinished)
  try {
    renameSync(unfinished, target)
  } catch {
    rmSync(unfinished, { recursive: true })
  }
  return file
}

async function buildInto(outDir: string): Promise<void> {
  // Threads, the console and assets are found beside the source that names them.
  const ownAddresses = {
    name: 'own-addresses',
    transform: (code: string, id: string) =>
      code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
  }
  await build({
    root,
    configFile: false as const,
    logLevel: 'warn' as const,
    plugins: [ownAddresses],
    build: {
      ssr: 'src/main.ts',
      outDir,
      target: 'node24',
      minify: false,
      rolldownOptions: { output: { entryFileNames: 'main.mjs', chunkFileNames: '[name]-[hash].mjs' } },
    },
  })
}
