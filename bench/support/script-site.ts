/** A page with twenty scripts that a browser may keep. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const scripts = Array.from({ length: 20 }, (_, index) => `<script src="/${index}.js"></script>`).join('')

export async function startScriptSite(): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((request, response) => {
    const isScript = request.url?.endsWith('.js')
    const type = isScript ? 'text/javascript' : 'text/html'
    const keeping = isScript ? 'max-age=3600' : 'no-store'
    response.writeHead(200, { 'content-type': type, 'cache-control': keeping })
    response.end(isScript ? `/* ${'x'.repeat(20_000)} */` : `<!doctype html><title>Scripts</title>${scripts}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
