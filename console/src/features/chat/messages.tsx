import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { toastError } from '#console/ui/toast.tsx'
import { modelFor } from './composer.tsx'
import { type Cite, LiveTurn, StoredMessage } from './message.tsx'
import { chatOf, type Waiting } from './requests.ts'
import { text } from './text.ts'
import { besideTurn, loadEarlier, threadQuery } from './thread.ts'
import { hasPlace, startAgain, type Turn } from './turns.ts'

/** Max distance from the end at which it is followed (px). */
const nearPx = 48

/** Keeps a scrolled element at its end while its content grows, until the person scrolls away from it. */
function useEnd() {
  const scroller = useRef<HTMLElement>(null)
  const follows = useRef(true)
  const last = useRef({ height: 0, client: 0, top: 0 })
  const [isAtEnd, setAtEnd] = useState(true)

  const look = useCallback((hasGrown: boolean) => {
    const element = scroller.current
    if (element === null) return
    const { scrollHeight: height, scrollTop: top, clientHeight: client } = element
    // Growth after the last check must not count as scrolling.
    const wasNear = follows.current && last.current.height - top - last.current.client <= nearPx
    follows.current = wasNear || height - top - client <= nearPx
    setAtEnd(follows.current)
    if (!hasGrown) return
    const movesUp = top < last.current.top && height >= last.current.height
    if (follows.current && !movesUp) element.scrollTo({ top: height })
    last.current = { height, client, top: element.scrollTop }
  }, [])

  useLayoutEffect(() => {
    const element = scroller.current
    const content = element?.firstElementChild
    if (!element || !content) return
    const watch = new ResizeObserver(() => look(true))
    watch.observe(content)
    watch.observe(element)
    look(true)
    return () => watch.disconnect()
  }, [look])

  const toEnd = () => {
    follows.current = true
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  }
  return { scroller, isAtEnd, toEnd, onScroll: () => look(false) }
}

interface MessagesProps {
  conversationId: string
  /** The turns of this conversation; only the last can be running. */
  turns: readonly Turn[]
  running: Turn | undefined
  isElsewhere: boolean
  /** The call that the last answer waits for. */
  waits: Waiting | undefined
  onCite: Cite
}

/** A conversation: the newest messages, earlier ones on scrolling up, and the running answer. */
export function Messages(props: MessagesProps) {
  const { conversationId, turns, running, isElsewhere, waits, onCite } = props
  const t = useText(text)
  const agent = useAgent()
  const chat = chatOf(agent)
  const { data, error } = useQuery({
    ...threadQuery(chat, conversationId),
    // A running turn shows itself: its stored part is fetched at its end.
    enabled: ({ state }) => running === undefined || state.data === undefined,
  })
  const { scroller, isAtEnd, toEnd, onScroll } = useEnd()
  const messages = besideTurn(data?.messages ?? [], turns.find(hasPlace))
  const first = messages[0]?.id

  const fromEnd = useRef(0)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element && first !== undefined && fromEnd.current > 0)
      element.scrollTop = element.scrollHeight - fromEnd.current
    fromEnd.current = 0
  }, [first, scroller])
  const isLoading = useRef(false)
  const showEarlier = useCallback(async () => {
    const element = scroller.current
    if (isLoading.current || element === null) return
    isLoading.current = true
    fromEnd.current = element.scrollHeight - element.scrollTop
    await loadEarlier(chat, conversationId).catch(toastError)
    isLoading.current = false
  }, [chat, conversationId, scroller])

  if (error && data === undefined) return <Problem error={error} />
  const mayAnswer = agent.may('talk') && running === undefined && !isElsewhere && !waits
  return (
    <section
      ref={scroller}
      className={`scroller${isAtEnd ? ' at-end' : ''}`}
      aria-label={t.conversation}
      tabIndex={0}
      onScroll={onScroll}
    >
      <div className="messages">
        {data?.hasEarlier && <Earlier onReach={() => void showEarlier()} />}
        {messages.map((message, at) => {
          const isLast = at === messages.length - 1
          return (
            <StoredMessage
              key={message.id}
              message={message}
              onCite={onCite}
              isGrowing={isElsewhere && isLast}
              waits={isLast ? waits : undefined}
              onAgain={isLast && mayAnswer ? () => startAgain(chat, message, modelFor(chat)) : undefined}
            />
          )
        })}
        {turns.map(turn => (
          <LiveTurn key={turn.id} turn={turn} onCite={onCite} />
        ))}
        {isElsewhere && <p className="coming">{t.isElsewhere}</p>}
      </div>
      {!isAtEnd && (
        <div className="to-end">
          <Button icon="down" onClick={toEnd}>
            {t.toEnd}
          </Button>
        </div>
      )}
    </section>
  )
}

/** Loads earlier messages when its place comes near, and by its button. */
function Earlier({ onReach }: { onReach(): void }) {
  const t = useText(text)
  const place = useRef<HTMLDivElement>(null)
  const reach = useRef(onReach)
  reach.current = onReach
  useEffect(() => {
    const watch = new IntersectionObserver(entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) reach.current()
    })
    if (place.current) watch.observe(place.current)
    return () => watch.disconnect()
  }, [])
  return (
    <div ref={place} className="load-more">
      <Button onClick={onReach}>{t.earlier}</Button>
    </div>
  )
}
