import type { Token, Tokens } from 'marked'
import { createContext, Fragment, memo, type ReactNode, useContext } from 'react'
import { useText } from '#console/i18n/text.ts'
import { CodeBlock } from '#console/ui/code.tsx'
import { decodeReferences, safeAddress } from './links.ts'
import { text } from './text.ts'

/** The hosts of the answer's sources: a link elsewhere shows its whole address. */
export const KnownHosts = createContext<ReadonlySet<string>>(new Set())

/** Renders blocks of Markdown. Markup in the text is shown as written; nothing in it is fetched or run. */
export function Markdown({ blocks }: { blocks: readonly Token[] }) {
  return keyed(blocks).map(({ key, token }) => <Block key={key} token={token} />)
}

/** Blocks of a part. */
const partSize = 32

/** Renders growing Markdown in parts: complete parts that are out of sight cost next to nothing. */
export function GrowingMarkdown({ blocks }: { blocks: readonly Token[] }) {
  const parts = Array.from({ length: Math.ceil(blocks.length / partSize) }, (_, at) => ({
    at,
    blocks: blocks.slice(at * partSize, (at + 1) * partSize),
  }))
  return parts.map(part => <Part key={part.at} blocks={part.blocks} />)
}

const Part = memo(
  ({ blocks }: { blocks: readonly Token[] }) => (
    <div className="part">
      <Markdown blocks={blocks} />
    </div>
  ),
  (one, other) =>
    one.blocks.length === other.blocks.length && one.blocks.every((token, at) => token === other.blocks[at]),
)

const Block = memo(
  ({ token }: { token: Token }) => block(token, 0),
  (one, other) => one.token.raw === other.token.raw && one.token.type === other.token.type,
)

/** Max depth of nesting; deeper blocks are shown as written. */
const maxDepth = 12

/** Returns tokens with their places in the text, which stay the same while it grows. */
function keyed<One extends { raw: string }>(tokens: readonly One[] = []): { key: number; token: One }[] {
  let at = 0
  return tokens.map(token => {
    const key = at
    at += Math.max(1, token.raw.length)
    return { key, token }
  })
}

const each = (tokens: readonly Token[] | undefined, render: (token: Token) => ReactNode) =>
  keyed(tokens).map(({ key, token }) => <Fragment key={key}>{render(token)}</Fragment>)

function block(token: Token, depth: number): ReactNode {
  if (depth > maxDepth) return <p dir="auto">{token.raw}</p>
  const { type } = token
  if (type === 'space' || type === 'def' || type === 'checkbox') return null
  if (type === 'hr') return <hr />
  if (type === 'code') return <Code token={token as Tokens.Code} />
  if (type === 'heading')
    return (
      <h3 dir="auto" className={`level-${token.depth}`}>
        {inline(token.tokens, depth)}
      </h3>
    )
  if (type === 'blockquote')
    return <blockquote>{each(token.tokens, child => block(child, depth + 1))}</blockquote>
  if (type === 'list') return list(token as Tokens.List, depth)
  if (type === 'table') return <Table token={token as Tokens.Table} />
  const children = type !== 'html' && 'tokens' in token ? token.tokens : undefined
  return <p dir="auto">{children ? inline(children, depth) : textOf(token)}</p>
}

function list({ ordered, start, items }: Tokens.List, depth: number): ReactNode {
  const rows = keyed(items).map(({ key, token }) => (
    <li key={key} dir="auto">
      {token.task && (
        <input type="checkbox" checked={token.checked ?? false} disabled aria-label={token.text} />
      )}
      {each(token.tokens, child =>
        // A tight item's text has no paragraph around it.
        child.type === 'text' && child.tokens ? inline(child.tokens, depth) : block(child, depth + 1),
      )}
    </li>
  ))
  return ordered ? <ol start={Number(start)}>{rows}</ol> : <ul>{rows}</ul>
}

function Code({ token }: { token: Tokens.Code }) {
  const t = useText(text)
  return <CodeBlock text={token.text} label={t.code(token.lang ?? '')} />
}

function Table({ token: { header, rows, align } }: { token: Tokens.Table }) {
  const t = useText(text)
  const cellsOf = (cells: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    keyed(cells.map(cell => ({ ...cell, raw: `${cell.text}|` }))).map(({ key, token }, at) => (
      <Cell key={key} dir="auto" style={{ textAlign: align[at] ?? 'start' }}>
        {inline(token.tokens, 0)}
      </Cell>
    ))
  const lines = keyed(rows.map(cells => ({ cells, raw: cells.map(cell => cell.text).join('|') })))
  return (
    <figure className="table" aria-label={t.table} tabIndex={0}>
      <table>
        <thead>
          <tr>{cellsOf(header, 'th')}</tr>
        </thead>
        <tbody>
          {lines.map(({ key, token }) => (
            <tr key={key}>{cellsOf(token.cells, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

function inline(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return each(tokens, token => inlineOne(token, depth + 1))
}

function inlineOne(token: Token, depth: number): ReactNode {
  if (depth > maxDepth) return token.raw
  const { type } = token
  if (type === 'br') return <br />
  if (type === 'codespan') return <code>{token.text}</code>
  if (type === 'strong') return <strong>{inline(token.tokens, depth)}</strong>
  if (type === 'em') return <em>{inline(token.tokens, depth)}</em>
  if (type === 'del') return <del>{inline(token.tokens, depth)}</del>
  if (type === 'link') {
    const content = token.autolink ? token.text : inline(token.tokens, depth)
    return (
      <OutLink href={token.href} label={token.text} raw={token.raw}>
        {content}
      </OutLink>
    )
  }
  if (type === 'image') return <Image token={token as Tokens.Image} />
  return type === 'text' && token.tokens ? inline(token.tokens, depth) : textOf(token)
}

/** Returns the text of a token; markup is shown as written. */
function textOf(token: Token): string {
  if (token.type === 'html' || !('text' in token)) return token.raw
  return token.type === 'text' && !token.escaped ? decodeReferences(token.text) : token.text
}

interface OutLinkProps {
  href: string
  /** The words that are shown for the address. */
  label: string
  raw: string
  children: ReactNode
}

/** A link out of the console, in a new tab. Words that hide an unknown host get the whole address beside. */
function OutLink({ href, label, raw, children }: OutLinkProps) {
  const known = useContext(KnownHosts)
  const url = safeAddress(href)
  if (url === undefined) return raw
  const isNamed = url.href.includes(label) && label.length >= url.host.length
  return (
    <>
      <a href={url.href} target="_blank" rel="noreferrer">
        {children}
      </a>
      {!isNamed && !known.has(url.host) && <span className="address"> ({url.href})</span>}
    </>
  )
}

function Image({ token: { href, text: name, raw } }: { token: Tokens.Image }) {
  const t = useText(text)
  const url = safeAddress(href)
  if (url === undefined) return raw
  return (
    <OutLink href={href} label={name} raw={raw}>
      {t.image(name, url.host)}
    </OutLink>
  )
}
