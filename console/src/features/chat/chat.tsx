import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useChanges } from '#console/api/changes.ts'
import { invalidate, listQuery, query, queryClient } from '#console/api/query.ts'
import { useStore } from '#console/api/store.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Part } from '#console/shell/parts.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { useFileDrop } from '#console/ui/file-drop.tsx'
import { addFiles } from './added-files.ts'
import { isHeldUp } from './answer.ts'
import { Composer, type ComposerProps } from './composer.tsx'
import { Conversations } from './conversations.tsx'
import type { chatSearch } from './feature.ts'
import { type Cite, LiveTurn } from './message.tsx'
import { Messages } from './messages.tsx'
import {
  type Conversation,
  type CurrentTurn,
  chatOf,
  currentTurn,
  listConversations,
  listModels,
  type Message,
  type Passage,
  type Waiting,
} from './requests.ts'
import { text } from './text.ts'
import { threadQuery } from './thread.ts'
import { draftKey, isRunning, joinTurn, type Turn, turns } from './turns.ts'
import './chat.css'

export const prefetch = ({ agent }: LoadContext) =>
  Promise.all([
    queryClient.prefetchInfiniteQuery(
      listQuery<Conversation>(listConversations(chatOf(agent)), 'conversations'),
    ),
    queryClient.prefetchQuery(query(listModels(chatOf(agent)), { isShown: false })),
  ])

export default function Chat({
  search: { conversation: conversationId, write },
}: ViewProps<never, typeof chatSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const [isListed, setListed] = useState(false)
  const [cited, setCited] = useState<Passage>()
  const cite = (passage: Passage) =>
    passage.file_id === undefined
      ? setCited(passage)
      : location.assign(`${chatOf(agent)}/files/${encodeURIComponent(passage.file_id)}`)
  useEffect(() => {
    if (conversationId !== undefined) setListed(false)
  }, [conversationId])
  return (
    <div className="with-panel">
      <div className="chat">
        <nav className="conversations" aria-label={t.conversations}>
          <Conversations chosen={conversationId} />
        </nav>
        <div className="narrow-bar">
          <Button icon="menu" onClick={() => setListed(true)}>
            {t.conversations}
          </Button>
          {agent.may('talk') && (
            <LinkButton to={`${agent.home}/chat`} icon="plus" label={t.newConversation} />
          )}
        </div>
        <Shown conversationId={conversationId} write={write} onCite={cite} />
      </div>
      {isListed && (
        <Dialog title={t.conversations} onClose={() => setListed(false)}>
          <div className="conversations">
            <Conversations chosen={conversationId} />
          </div>
        </Dialog>
      )}
      {cited && (
        <Part
          key={cited.id}
          name="document"
          sourceId={cited.source_id}
          id={cited.id}
          url={cited.url ?? null}
          page={cited.page}
          start={cited.start}
          end={cited.end}
          onClose={() => setCited(undefined)}
        />
      )}
    </div>
  )
}

interface ShownProps extends Pick<ComposerProps, 'conversationId' | 'write'> {
  onCite: Cite
}

/** A conversation, or the start of a new one. */
function Shown({ conversationId, write, onCite }: ShownProps) {
  const t = useText(text)
  const agent = useAgent()
  const chat = chatOf(agent)
  const navigate = useNavigate()
  const all = useStore(turns)
  // The turn that was begun here, until its conversation is shown.
  const sentId = useRef<number>(undefined)
  const isHere = (turn: Turn) =>
    turn.conversationId === conversationId || (conversationId === undefined && turn.id === sentId.current)
  const own = all.filter(turn => turn.chat === chat && isHere(turn))
  const running = own.find(isRunning)
  const { isElsewhere, waits } = useFollow(chat, conversationId, own)
  const isHeld = own.some(({ drawn }) => isHeldUp(drawn.get().answer))

  // A conversation that began here moves to its own address as soon as it has one.
  const begun = all.find(({ id }) => id === sentId.current)?.conversationId
  useEffect(() => {
    if (conversationId !== undefined) sentId.current = undefined
    else if (begun !== undefined) void navigate({ to: '.', search: { conversation: begun }, replace: true })
  }, [begun, conversationId, navigate])

  const { isOver, place } = useFileDrop(files => addFiles(chat, draftKey(chat, conversationId), files))
  const mayTalk = agent.may('talk')

  return (
    <div className="talk" {...(mayTalk && place)}>
      {isOver && mayTalk && <p className="drop over">{t.dropHere}</p>}
      {conversationId === undefined ? (
        <div className="scroller">
          <div className="messages">
            {own.length === 0 && <Beginning />}
            {own.map(turn => (
              <LiveTurn key={turn.id} turn={turn} onCite={onCite} />
            ))}
          </div>
        </div>
      ) : (
        <Messages
          key={conversationId}
          conversationId={conversationId}
          turns={own}
          running={running}
          isElsewhere={isElsewhere}
          waits={waits?.waiting}
          onCite={onCite}
        />
      )}
      <Announcer drawn={running?.drawn} waits={waits?.waiting} />
      {mayTalk ? (
        <Composer
          conversationId={conversationId}
          write={write}
          running={running}
          waits={waits}
          isHeld={isHeld}
          onSent={({ id }) => {
            sentId.current = id
          }}
        />
      ) : (
        <p className="read-only hint">{t.readOnly}</p>
      )}
    </div>
  )
}

/** The greeting of a new conversation; without a language model, it links to the settings. */
function Beginning() {
  const t = useText(text)
  const agent = useAgent()
  const { data } = useQuery(query(listModels(chatOf(agent)), { isShown: false }))
  const isBuiltinOnly = data?.models.every(({ provider }) => provider === 'builtin') ?? false
  return (
    <Empty title={t.emptyTitle} text={isBuiltinOnly ? t.builtinOnly : t.emptyText}>
      {isBuiltinOnly && agent.may('change') && (
        <LinkButton to={`${agent.home}/settings`}>{t.setModel}</LinkButton>
      )}
    </Empty>
  )
}

interface AnnouncerProps {
  drawn: Turn['drawn'] | undefined
  waits: Waiting | undefined
}

/** One status for screen readers: the agent thinks or waits, then the whole answer. */
function Announcer({ drawn, waits }: AnnouncerProps) {
  const t = useText(text)
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (drawn === undefined) return
    setSaid(t.thinking)
    return () => {
      const { state, text: words, error } = drawn.get().answer
      if (state === 'waiting') return
      setSaid(state === 'failed' ? `${t.failed}: ${error?.message}` : t.answered(words))
    }
  }, [drawn, t])
  const waiting = waits && (waits.rule === 'browser' ? t.takeover(waits.why) : t.waits(waits.tool))
  useEffect(() => {
    if (waiting !== undefined) setSaid(waiting)
  }, [waiting])
  return (
    <p className="sr" role="status">
      {said}
    </p>
  )
}

const threadEveryMs = 1000
const waitEveryMs = 15_000
const listEveryMs = 5000

interface Followed {
  /** True if a running answer is only visible once it is stored. */
  isElsewhere: boolean
  /** The turn that waits for a person. */
  waits: CurrentTurn | undefined
}

/** Follows changes from elsewhere, and the running turn. */
function useFollow(chat: string, conversationId: string | undefined, own: readonly Turn[]): Followed {
  const running = currentTurn(chat, conversationId ?? '')
  const fetchThread = useThrottled(threadEveryMs, () => {
    if (conversationId === undefined) return
    void queryClient.invalidateQueries(threadQuery(chat, conversationId))
    void invalidate([running.path])
  })
  const fetchList = useThrottled(listEveryMs, () => void invalidate([`${chat}/conversations`]))
  useChanges(({ type, id }) => {
    if (type === 'messages' || type === 'conversations') fetchList()
    if ((type === 'messages' || type === 'approvals') && (id === undefined || id === conversationId))
      fetchThread()
  })
  const { data } = useQuery({ ...threadQuery(chat, conversationId ?? ''), enabled: false })
  const last = data?.messages.at(-1)
  const isShown = own.some(({ drawn }) => drawn.get().answer.state !== 'failed')
  const mayGrow = conversationId !== undefined && data !== undefined && isOpenEnded(last) && !isShown
  const { data: current } = useQuery({
    ...query(running, { isShown: false }),
    enabled: mayGrow,
    staleTime: 0,
    gcTime: 0,
    refetchInterval: ({ state }) =>
      isWaiting(state.data?.turn) ? waitEveryMs : state.data?.turn ? threadEveryMs : false,
  })
  const turn = current?.turn
  // The stored part of the answer is refreshed at each end of the wait.
  const waits = isWaiting(turn) && last?.metadata?.waiting ? (turn ?? undefined) : undefined
  const turnId = turn?.events === undefined || waits ? undefined : turn.id
  const latest = useRef(last)
  latest.current = last
  useEffect(() => {
    if (conversationId === undefined || turnId === undefined) return
    return joinTurn({ chat, conversationId, turnId }, latest.current)
  }, [chat, conversationId, turnId])
  return { isElsewhere: mayGrow && turn != null && turnId === undefined && !waits, waits }
}

const isWaiting = (turn: CurrentTurn | null | undefined) => turn?.status === 'waiting'

/** True if an answer might be in progress after this last message: it is stored each second meanwhile. */
function isOpenEnded(last: Message | undefined): boolean {
  const { aborted, stopped, waiting, error } = last?.metadata ?? {}
  return (
    last?.role !== 'assistant' || waiting === true || (aborted === true && !stopped && error === undefined)
  )
}

/** Returns a function that runs `run` at most once per interval, and once after its last call. */
function useThrottled(everyMs: number, run: () => void): () => void {
  const latest = useRef(run)
  latest.current = run
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const ranAt = useRef(0)
  return () => {
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined
        ranAt.current = Date.now()
        latest.current()
      },
      Math.max(0, ranAt.current + everyMs - Date.now()),
    )
  }
}
