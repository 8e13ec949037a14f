import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '#console/api/client.ts'
import { query, queryClient, useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { type Agent, useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import {
  endSession,
  getLink,
  getSession,
  getTakeover,
  requestTakeover,
  type Session,
  sessionsPath,
  type TakeoverRecord,
} from './requests.ts'
import { SessionStatus } from './sessions.tsx'
import { text } from './text.ts'
import './browser.css'

export const prefetch = ({ agent, params: { sessionId } }: LoadContext<'sessionId'>) =>
  queryClient.prefetchQuery(query(getSession(agent, sessionId)))

/** One browser session: its live page, its takeover, or its replay. */
export default function SessionView({ params: { sessionId } }: ViewProps<'sessionId'>) {
  const agent = useAgent()
  const { data: session, error, dataUpdatedAt } = useQuery(query(getSession(agent, sessionId)))
  if (error && session === undefined) return <Problem error={error} />
  return session && <Shown key={session.id} session={session} readAt={dataUpdatedAt} />
}

function Shown({ session, readAt }: { session: Session; readAt: number }) {
  const t = useText(text)
  const agent = useAgent()
  const { id, status, created_at, recording } = session
  const isEnded = status === 'closed' || status === 'error'
  const isTaken = status === 'takeover'
  const takeover = useQuery({ ...takeoverQuery(agent, id, readAt), enabled: isTaken })
  const changes = [sessionsPath(agent), `${agent.api}/attention`]
  const request = useChange(requestTakeover(agent, id), { changes })
  const ending = useChange(endSession(agent), { changes, onDone: () => toast(t.ended) })
  const onError = toastError
  const url = isTaken ? takeover.data?.takeover_url : undefined
  // The link is read once because each new one would reload the page.
  const isLinked = isEnded ? recording !== null : !isTaken || takeover.data?.takeover_url === null
  const link = useQuery({ ...linkQuery(agent, id, isEnded), enabled: isLinked })

  async function end() {
    const question = { title: t.endTitle, text: t.endText, action: t.end }
    if (await confirm({ ...question, isDangerous: true })) ending.mutate(id, { onError })
  }

  return (
    <div className="page session">
      <Heading
        detail={
          <>
            <SessionStatus status={status} />
            <Time at={created_at} />
          </>
        }
      >
        <LinkButton to={`${agent.home}/browser`} kind="quiet" icon="previous">
          {t.back}
        </LinkButton>
        {!isEnded && agent.may('change') && (
          <>
            {!isTaken && (
              <Button
                disabled={request.isPending}
                onClick={() => request.mutate({ reason: t.takeOverReason }, { onError })}
              >
                {t.takeOver}
              </Button>
            )}
            <Button kind="danger" icon="stop" onClick={() => void end()}>
              {t.end}
            </Button>
          </>
        )}
      </Heading>
      {isTaken && takeover.data?.takeover_url === null && <Takeover takeover={takeover.data} />}
      {isEnded && recording === null && <Empty title={t.nothingRecorded} text={t.nothingRecordedText} />}
      {link.error && <Problem error={link.error} />}
      {url && takeover.data ? (
        <Frame key={takeover.data.takeover_id} url={url} title={t.control} isControlled />
      ) : (
        link.data &&
        isLinked && <Frame key={String(isEnded)} url={link.data.url} title={isEnded ? t.replay : t.live} />
      )}
    </div>
  )
}

/** Read whenever the session was read in a takeover: a query of its own would outlast the takeover. */
const takeoverQuery = (agent: Agent, id: string, readAt: number) =>
  queryOptions({
    queryKey: ['browser takeover', id, readAt],
    queryFn: ({ signal }) => send(getTakeover(agent, id), { signal }),
    placeholderData: previous => previous,
    gcTime: 0,
  })

/** The key is not below the sessions' path: a change of the session must not create a link and reload. */
const linkQuery = (agent: Agent, id: string, isEnded: boolean) =>
  queryOptions({
    queryKey: ['browser link', id, isEnded],
    queryFn: ({ signal }) => send(getLink(agent, id), { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

/** The reason for a takeover, for people who may not control the page; the page shows it to the others. */
function Takeover({ takeover: { reason, requested_by, expires_at, driver } }: { takeover: TakeoverRecord }) {
  const t = useText(text)
  const names: Record<string, string> = { agent: t.agent, api: t.api }
  return (
    <section className="takeover" aria-label={t.asked}>
      <h2>{t.askedBy(names[requested_by] ?? requested_by)}</h2>
      <p>{reason}</p>
      <p className="about">
        {t.until} <Time at={expires_at} />. {driver !== null && t.drives(driver)}
      </p>
    </section>
  )
}

/** A page of the service within the console. It keeps the address of its first rendering. */
function Frame({ url, title, isControlled = false }: { url: string; title: string; isControlled?: boolean }) {
  const t = useText(text)
  // The console frames only its own origin, and its host name can differ from that of the links.
  const [src] = useState(() => new URL(url).pathname + new URL(url).search)
  return (
    <>
      <iframe className={isControlled ? 'controlled' : undefined} src={src} title={title} />
      <p>
        <a href={src} target="_blank" rel="noreferrer">
          {t.ownTab}
        </a>{' '}
        {isControlled && <span className="hint">{t.keys}</span>}
      </p>
    </>
  )
}
