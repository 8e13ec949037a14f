import { useState } from 'react'
import { calledVia, curl } from '#console/api/curl.ts'
import type { ApiRequest } from '#console/api/request.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'
import { differences } from './differences.ts'

/** Copies a text, and confirms it on the button. */
export function CopyButton({ text, label }: { text(): string; label?: string }) {
  const t = useText(frameText)
  const [isCopied, setCopied] = useState(false)
  async function copy() {
    await navigator.clipboard.writeText(text())
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <Button kind="quiet" icon={isCopied ? 'check' : 'copy'} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? t.copied : (label ?? t.copy)}</span>
    </Button>
  )
}

/** Copies the command that sends the form. */
export function CopyCurl({ request }: { request(): ApiRequest }) {
  const t = useText(frameText)
  return <CopyButton label={t.copyCurl} text={() => curl(request(), location.origin, calledVia.get())} />
}

/** A value that is entered elsewhere, such as an address or a key, with a copy button. */
export function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <section className="copy-line" aria-label={label}>
      <code>{text}</code>
      <CopyButton text={() => text} />
    </section>
  )
}

const maxShown = 20_000

/** Text of a program or a value, cut to a displayable length; it scrolls within itself. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  const t = useText(frameText)
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? text : text.slice(0, maxShown)
  return (
    <figure className="code" aria-label={label}>
      <pre tabIndex={0}>{shown}</pre>
      <footer>
        {shown.length < text.length && (
          <Button kind="quiet" onClick={() => setWhole(true)}>
            {t.showMore(text.length - shown.length)}
          </Button>
        )}
        <CopyButton text={() => text} />
      </footer>
    </figure>
  )
}

/** The difference of two texts by lines: removed and added ones are marked by words and signs. */
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const t = useText(frameText)
  const words = { '+': t.added, '-': t.removed, ' ': '' }
  return (
    <figure className="code diff" aria-label={label}>
      <pre tabIndex={0}>
        {differences(before, after).map(({ at, sign, text }) => (
          <span key={at} className={sign === '+' ? 'added' : sign === '-' ? 'removed' : undefined}>
            <span className="sr">{words[sign]} </span>
            <span aria-hidden="true">{sign} </span>
            {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </figure>
  )
}
