/** A website on this machine, for crawls: what it answers is up to the test, and it remembers what it was asked. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SiteAnswer {
  status?: number
  headers?: Record<string, string>
  body?: string | Uint8Array
}

export interface SiteRequest {
  method: string
  /** With the query. */
  path: string
  headers: IncomingHttpHeaders
}

/** Undefined for a page that is not there; null where `response` is answered by the test itself. */
export type AnswerSite = (
  request: SiteRequest,
  response: ServerResponse,
) => SiteAnswer | string | undefined | null | Promise<SiteAnswer | string | undefined | null>

export interface Site {
  /** Without a slash at the end. */
  url: string
  requests: SiteRequest[]
  /** Paths of the pages that were asked for, without robots.txt. */
  asked(): string[]
  [Symbol.asyncDispose](): Promise<void>
}

/** A page of this title that links to these addresses. */
export function page(title: string, links: readonly string[] = [], text = ''): string {
  const list = links.map(link => `<li><a href="${link}">to ${link}</a></li>`).join('')
  return `<!doctype html><html><head><title>${title}</title></head><body>
    <main><h1>${title}</h1><p>The page of ${title} tells of ${title}. ${text}</p></main><nav><ul>${list}</ul></nav></body></html>`
}

/** A string is a page of HTML. */
export async function startSite(answer: AnswerSite): Promise<Site> {
  const requests: SiteRequest[] = []
  const server = createServer((incoming, response) => {
    const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers }
    requests.push(request)
    void Promise.resolve(answer(request, response)).then(given => {
      if (given === null) return
      const whole =
        typeof given === 'string' ? { body: given } : (given ?? { status: 404, body: 'Not here.' })
      response.writeHead(whole.status ?? 200, { 'content-type': 'text/html', ...whole.headers })
      response.end(whole.body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    asked: () =>
      requests
        .filter(({ method, path }) => method === 'GET' && path !== '/robots.txt')
        .map(({ path }) => path),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A site of fixed pages, by path. */
export function sitePages(pages: Record<string, SiteAnswer | string>): AnswerSite {
  return ({ path }) => pages[path]
}

/** An answer of HTML that goes on for as long as somebody reads it; written here, so that the site need not. */
export function answerWithoutEnd(response: ServerResponse): null {
  response.writeHead(200, { 'content-type': 'text/html' })
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  }
  response.on('drain', more)
  more()
  return null
}
