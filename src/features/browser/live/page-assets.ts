import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { Type } from 'typebox'
import { notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { type KeptFile, keepFile, sendKept } from '#platform/http/responses/kept-file.ts'

const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css' }

/** Returns the address of a file of the service's own pages. */
export function pageFile(name: string): URL {
  return new URL(`../pages/${name}`, import.meta.url)
}

/** Serves the files of a page beside its document; each file is read at its first request. */
export function registerPageAssets(
  app: App,
  page: 'live' | 'replay',
  files: Readonly<Record<string, URL>>,
): void {
  const assets = new Map<string, KeptFile>()

  app.route({
    method: 'GET',
    url: `/${page}/assets/:name`,
    // Like health checks, these files cost nothing to serve, and each page needs all of them.
    config: { area: 'generic', access: 'open', limit: 'none' },
    schema: { params: Type.Object({ name: Type.String() }) },
    handler: async (request, reply) => {
      const { name } = request.params
      const file = Object.hasOwn(files, name) ? files[name] : undefined
      if (file === undefined) throw notFound('File')
      const asset = assets.get(name) ?? keepFile(`${types[extname(name)]}; charset=utf-8`, readFileSync(file))
      assets.set(name, asset)
      return sendKept(reply, asset)
    },
  })
}
