/**
 * Builds the web console into `console/dist`: run by `npm ci`, and by `npm run dev` as its files change. Beside each text
 * stand its compressed copies; `files.json`, written last, lists what is served. Without the packages for development an
 * existing build is kept.
 */
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { InlineConfig, Plugin } from 'vite'

const root = fileURLToPath(new URL('../console', import.meta.url))
const output = join(root, 'dist')

/** Content types by ending; those of text are compressed. */
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.bcmap': 'application/octet-stream',
}
const compressed = new Set(['.html', '.js', '.mjs', '.css', '.svg', '.json'])
const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Writes the compressed copies of a file; returns its entry of the list. */
async function prepareFile(path: string) {
  const file = join(output, path)
  const ending = extname(path)
  const content = await readFile(file)
  const copies = compressed.has(ending)
    ? {
        br: await brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
        gz: await zip(content, { level: 9 }),
      }
    : {}
  for (const [encoding, copy] of Object.entries(copies)) await writeFile(`${file}.${encoding}`, copy)
  return {
    path: path.replaceAll(sep, '/'),
    type: types[ending] ?? 'application/octet-stream',
    size: content.length,
    hash: hash('sha256', content, 'base64url'),
    encodings: Object.keys(copies),
    sizes: Object.fromEntries(Object.entries(copies).map(([encoding, copy]) => [encoding, copy.length])),
  }
}

const prepareFiles: Plugin = {
  name: 'agentstead:files',
  async closeBundle() {
    const entries = await readdir(output, { recursive: true, withFileTypes: true })
    const paths = entries
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(output.length + 1))
      .filter(path => !/^files\.json|\.(?:br|gz)$/.test(path))
    const files = await Promise.all(paths.toSorted().map(prepareFile))
    const list = join(output, 'files.json')
    // A server that runs never reads half a list.
    await writeFile(`${list}.new`, JSON.stringify(files))
    await rename(`${list}.new`, list)
  },
}

/**
 * What pdf.js loads when a document needs it: maps of characters, fonts, and decoders of images. Its version is in their
 * address, since they keep their names.
 */
const pdfFiles: Plugin = {
  name: 'agentstead:pdf',
  async writeBundle() {
    const folder = new URL('..', import.meta.resolve('pdfjs-dist'))
    const { version } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8')) as {
      version: string
    }
    for (const name of ['cmaps', 'standard_fonts', 'wasm'])
      await cp(new URL(name, folder), join(output, `assets/pdf-${version}`, name), {
        recursive: true,
        filter: path => !/\.wasm$|quickjs/.test(path),
      })
  },
}

const options: InlineConfig = {
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: output,
    emptyOutDir: true,
    // The policy permits no data: URLs for fonts, and no script in the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    watch: process.argv.includes('--watch') ? {} : null,
    manifest: 'manifest.json',
  },
  plugins: [pdfFiles, prepareFiles],
}

async function loadBuilder() {
  try {
    const [vite, { default: react }] = await Promise.all([import('vite'), import('@vitejs/plugin-react')])
    return { build: vite.build, react }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

const builder = await loadBuilder()
if (builder !== undefined)
  await builder.build({ ...options, plugins: [builder.react(), ...(options.plugins ?? [])] })
else if (existsSync(join(output, 'files.json')))
  console.info('The web console is kept as it was built: the packages that build it are not installed.')
else console.info('The web console is not built: `npm ci` with the packages for development builds it.')
