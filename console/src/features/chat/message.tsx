import { useQuery } from '@tanstack/react-query'
import { memo, type ReactNode, useMemo, useState } from 'react'
import { callerQuery } from '#console/api/caller.ts'
import { useStore } from '#console/api/store.ts'
import { formatList } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { CopyButton } from '#console/ui/code.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { Time } from '#console/ui/time.tsx'
import { isHeldUp, stepsOf } from './answer.ts'
import { WaitingCall } from './approval.tsx'
import { authorOf } from './author.ts'
import { parseBlocks } from './blocks.ts'
import { Feedback } from './feedback.tsx'
import { Files } from './files.tsx'
import { hostsOf } from './links.ts'
import { GrowingMarkdown, KnownHosts, Markdown } from './markdown.tsx'
import type { Attachment, Message, Passage, Waiting } from './requests.ts'
import { Steps } from './steps.tsx'
import { text } from './text.ts'
import { dismiss, type Turn } from './turns.ts'
import './answer.css'

/** Opens a source of an answer. */
export type Cite = (passage: Passage) => void

interface MessageProps {
  message: Message
  onCite: Cite
  /** Requests another answer; absent for all but the last message, and for callers who may not. */
  onAgain: (() => void) | undefined
  /** True while the message is being written elsewhere. */
  isGrowing: boolean
  /** The call that the message waits for. */
  waits: Waiting | undefined
}

export const StoredMessage = memo(function StoredMessage(props: MessageProps) {
  return props.message.role === 'assistant' ? <StoredAnswer {...props} /> : <StoredQuestion {...props} />
})

function StoredQuestion({ message, onAgain }: MessageProps) {
  const t = useText(text)
  const caller = useQuery(callerQuery).data?.user?.email
  return (
    <Asked
      content={message.content}
      files={message.metadata?.attachments}
      who={authorOf(message, caller, t)}
      at={message.createdAt}
    >
      {onAgain && (
        <Button icon="refresh" onClick={onAgain}>
          {t.again}
        </Button>
      )}
    </Asked>
  )
}

interface AskedProps {
  content: string
  files?: readonly Attachment[] | undefined
  who?: string | undefined
  at?: string
  children?: ReactNode
}

function Asked({ content, files = [], who, at, children }: AskedProps) {
  const t = useText(text)
  return (
    <article className="asked">
      <h2 className="speaker">
        <b>
          <bdi>{who?.slice(0, 200) ?? t.you}</bdi>
        </b>
        {at !== undefined && <Time at={at} />}
      </h2>
      {content !== '' && (
        <p dir="auto" className="written">
          {content}
        </p>
      )}
      <Files files={files} />
      {children}
    </article>
  )
}

function StoredAnswer({ message, onCite, onAgain, isGrowing, waits }: MessageProps) {
  const t = useText(text)
  const { content, metadata = {}, createdAt } = message
  const { model, passages = [], pages = [], error, aborted, stopped, waiting, cutOff, reasoning } = metadata
  const blocks = useMemo(() => parseBlocks(content), [content])
  const hosts = useMemo(() => hostsOf([...passages, ...pages].map(({ url }) => url)), [passages, pages])
  return (
    <Answered model={model} at={createdAt}>
      {reasoning !== undefined && (
        <details className="reasoning">
          <summary>{t.reasoning}</summary>
          <p className="written">{reasoning}</p>
        </details>
      )}
      <Steps steps={stepsOf(message)} isOver={!isGrowing} isParked={waiting === true} />
      <div className="answer">
        <KnownHosts value={hosts}>
          <Markdown blocks={blocks} />
        </KnownHosts>
      </div>
      {waits && <WaitingCall waits={waits} />}
      {error !== undefined && <Failure message={error} />}
      {stopped && <p className="hint">{t.stopped}</p>}
      {aborted && !stopped && error === undefined && !isGrowing && <p className="hint">{t.partial}</p>}
      {cutOff && <p className="hint">{t.cutOff}</p>}
      <Limits {...metadata} />
      <Sources passages={passages} onCite={onCite} />
      {!isGrowing && !waiting && (
        <div className="answer-actions">
          {onAgain && metadata.questionDeleted !== true && (
            <Button kind="quiet" icon="refresh" onClick={onAgain}>
              {t.regenerate}
            </Button>
          )}
          {content !== '' && <CopyButton text={() => content} label={t.copy} />}
          <Feedback message={message} />
        </div>
      )}
    </Answered>
  )
}

function Answered({ model, at, children }: { model: string | undefined; at?: string; children: ReactNode }) {
  const t = useText(text)
  return (
    <article>
      <h2 className="speaker">
        <b>{useAgent().name}</b>
        {model !== undefined && <span>{model === 'builtin' ? t.builtin : model}</span>}
        {at !== undefined && <Time at={at} />}
      </h2>
      {children}
    </article>
  )
}

/** Limits of the model that affected the answer. */
function Limits({ toolsUnsupported, toolsRefused, toolsLeftOut }: NonNullable<Message['metadata']>) {
  const { without } = useText(text)
  return (
    <>
      {toolsUnsupported && <p className="hint">{without.toolsUnsupported}</p>}
      {toolsRefused && <p className="hint">{without.toolsRefused(formatList(toolsRefused))}</p>}
      {toolsLeftOut !== undefined && <p className="hint">{without.toolsLeftOut(toolsLeftOut)}</p>}
    </>
  )
}

/** Explains why there is no answer, and links to the settings that change it. */
function Failure({ message, children }: { message: string; children?: ReactNode }) {
  const t = useText(text)
  return (
    <div className="failure">
      <Icon name="warning" />
      <div>
        <b>{t.failed}</b>
        <p>{message}</p>
        <Remedy message={message} />
      </div>
      {children}
    </div>
  )
}

function Remedy({ message }: { message: string }) {
  const t = useText(text)
  const agent = useAgent()
  const isBudget = /budget/i.test(message)
  if (!isBudget && !/model|provider|key/i.test(message)) return null
  // The message about a budget names the people who can raise it.
  if (!agent.may('change')) return isBudget ? null : <p className="hint">{t.askAdmin}</p>
  return isBudget ? (
    <LinkButton to={`${agent.home}/usage`}>{t.seeUsage}</LinkButton>
  ) : (
    <LinkButton to={`${agent.home}/settings`}>{t.setModel}</LinkButton>
  )
}

const shownSources = 6

function Sources({ passages, onCite }: { passages: readonly Passage[]; onCite: Cite }) {
  const t = useText(text)
  const [isWhole, setWhole] = useState(false)
  if (passages.length === 0) return null
  const shown = isWhole ? passages : passages.slice(0, shownSources)
  return (
    <ul className="citations" aria-label={t.sources}>
      {shown.map((passage, at) => (
        <li key={passage.id}>
          <button type="button" className="chip" onClick={() => onCite(passage)}>
            <span className="num">{at + 1}</span> <bdi>{placeOf(passage, t)}</bdi>
          </button>
        </li>
      ))}
      {shown.length < passages.length && (
        <li>
          <button type="button" className="chip" onClick={() => setWhole(true)}>
            {t.moreSources(passages.length - shown.length)}
          </button>
        </li>
      )}
    </ul>
  )
}

const maxName = 80

function placeOf({ source_name, page, section }: Passage, t: ReturnType<typeof text.current>): string {
  const name = source_name.slice(0, maxName)
  if (page !== null) return t.page(name, page)
  return section === null ? name : `${name}, ${section.slice(0, maxName)}`
}

/** A question and its live answer; for a turn that failed before it was stored, the reason. */
export function LiveTurn({ turn, onCite }: { turn: Turn; onCite: Cite }) {
  const t = useText(text)
  const { answer, blocks } = useStore(turn.drawn)
  const hosts = useMemo(() => hostsOf(answer.passages.map(({ url }) => url)), [answer.passages])
  // The composer has the message again, and explains why.
  if (isHeldUp(answer)) return null
  if (answer.error !== undefined && answer.userMessageId === undefined)
    return (
      <Failure message={answer.error.code === 'CONVERSATION_LOCKED' ? t.locked : answer.error.message}>
        <Button kind="quiet" icon="close" label={t.dismiss} onClick={() => dismiss(turn.id)} />
      </Failure>
    )
  const { state, takeover } = answer
  const isComing = state === 'sending' || state === 'thinking' || state === 'writing'
  return (
    <>
      {turn.question !== undefined && (
        <Asked content={turn.question} files={turn.files?.flatMap(({ stored }) => stored ?? [])} />
      )}
      <Answered model={answer.model}>
        <Steps steps={answer.steps} isOver={false} />
        <div className="answer">
          <KnownHosts value={hosts}>
            <GrowingMarkdown blocks={[...blocks.settled, ...blocks.open]} />
          </KnownHosts>
        </div>
        {isComing && <p className="coming">{t[state]}</p>}
        {takeover && <Takeover {...takeover} />}
        <Sources passages={answer.passages} onCite={onCite} />
      </Answered>
    </>
  )
}

function Takeover({
  reason,
  takeover_url,
  expires_at,
}: {
  reason: string
  takeover_url: string | null
  expires_at: string
}) {
  const t = useText(text)
  return (
    <div className="ask-person">
      <p>
        {t.takeover(reason)} <Time at={expires_at} />
      </p>
      {takeover_url !== null && (
        <div className="actions">
          <a className="btn primary" href={takeover_url} target="_blank" rel="noreferrer">
            {t.openBrowser}
          </a>
        </div>
      )}
    </div>
  )
}
