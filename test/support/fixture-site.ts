/** A folder of real pages as a website, as a plain web server shows it. */
import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import type { AnswerSite } from './site-server.ts'

const types: Record<string, string> = { '.html': 'text/html', '.css': 'text/css', '.png': 'image/png' }

export function folderSite(folder: string): AnswerSite {
  return async ({ path }) => {
    const { pathname } = new URL(path, 'http://site')
    const name = normalize(decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname))
    try {
      const headers = { 'content-type': types[extname(name)] ?? 'application/octet-stream' }
      return { headers, body: await readFile(join(folder, name)) }
    } catch {
      return undefined
    }
  }
}
