import { Type } from 'typebox'
import { fromSchema, type Tool } from '#models/tools/tool.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import { AppError } from '#platform/errors.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'

const pageLimits = { timeoutMs: 20_000, maxBytes: 5 * 1024 * 1024 }

const readableType = /html|^(?:text\/|application\/(?:json|xml|[\w.+-]+\+(?:json|xml)))/i

const htmlPage = { contentType: 'text/html; charset=utf-8' }

const input = fromSchema(
  Type.Object({
    url: Type.String({ minLength: 1, description: 'The http or https address of the page.' }),
  }),
)

export type ToMarkdown = (
  page: { body: Uint8Array; contentType: string; url: string },
  signal: AbortSignal,
) => Promise<{ title: string; markdown: string; isShell: boolean }>

interface Dependencies {
  outbound: Outbound
  toMarkdown: ToMarkdown
  /** Runs the page's scripts in a browser. */
  render(url: string, signal: AbortSignal): Promise<{ url: string; html: string }>
  turn: ToolTurn | undefined
}

/** A tool that lets a model read a public page, as text. */
export function browseUrl({ outbound, toMarkdown, render, turn }: Dependencies): Tool {
  /** Renders a page; one that cannot be rendered is read as it was sent. */
  async function rendered(url: string, signal: AbortSignal) {
    const page = await render(url, signal).catch(error => {
      if (error instanceof AppError) return undefined
      throw error
    })
    if (page === undefined) return undefined
    const body = Buffer.from(page.html)
    const { title, markdown } = await toMarkdown({ ...htmlPage, body, url: page.url }, signal)
    return { url: page.url, title, markdown }
  }

  return {
    name: 'browse_url',
    description: 'Fetches a web page and returns its main content as markdown.',
    isBuiltIn: true,
    readsOnly: async () => true,
    egress: ({ url }) => ({ to: String(url), carries: 'nothing' }),
    ...input,
    async execute({ url }, signal) {
      const page = await outbound.fetch(String(url), {
        ...pageLimits,
        signal,
        headers: { accept: 'text/html, text/*;q=0.8' },
      })
      if (page.status >= 400)
        throw new AppError('OUTBOUND_FAILED', `The page answered with status ${page.status}.`)
      const { url: address, body } = page
      const contentType = page.headers.get('content-type') ?? 'text/html'
      if (!readableType.test(contentType))
        throw new AppError(
          'OUTBOUND_FAILED',
          `This address holds ${contentType.toLowerCase().split(';')[0]}, which cannot be read as a page.`,
        )
      const { isShell, ...sent } = await toMarkdown({ body, contentType, url: address }, signal)
      const read = (isShell && (await rendered(address, signal))) || { url: address, ...sent }
      turn?.report({ type: 'page_read', url: read.url, title: read.title })
      return read
    },
  }
}
