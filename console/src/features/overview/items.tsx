import { useQuery } from '@tanstack/react-query'
import { type ComponentType, type ReactNode, useState } from 'react'
import { query, useChange } from '#console/api/query.ts'
import { type ApiRequest, path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { views } from '#console/shell/feature.ts'
import { Part } from '#console/shell/parts.tsx'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { Match } from './match.tsx'
import {
  type AttentionItem,
  type AttentionKind,
  changedBy,
  decideStep,
  endTakeover,
  getTakeover,
  recordPayment,
  refreshSource,
  retryRun,
  terminateRun,
} from './requests.ts'
import { text } from './text.ts'

interface ItemProps {
  item: AttentionItem
}

/** The content of each kind of item below its title, with its buttons. */
export const contents: Record<AttentionKind, ComponentType<ItemProps>> = {
  tool_approval: ToolApproval,
  workflow_approval: WorkflowApproval,
  takeover: Takeover,
  mcp_definition: Definition,
  payment_notification: Notification,
  waiting_execution: WaitingRun,
  failed_execution: FailedRun,
  failed_source: FailedSource,
  failed_notice: FailedNotice,
}

/** Returns the function that decides an item; the response is awaited. */
function useDecision<Input, Answer>(
  requestOf: (input: Input) => ApiRequest<Answer>,
  said: (answer: Answer, input: Input) => string,
) {
  const agent = useAgent()
  const { mutate, isPending } = useChange(requestOf, {
    changes: changedBy(agent),
    onDone: (answer, input) => toast(said(answer, input)),
  })
  const decide = (input: Input) => mutate(input, { onError: toastError })
  return { decide, isPending }
}

/** Buttons for people who may decide; `links` are for all readers. */
function Actions({ links, children }: { links?: ReactNode; children?: ReactNode }) {
  const agent = useAgent()
  return (
    <div className="actions">
      {links}
      {agent.may('change') && children}
    </div>
  )
}

function ToolApproval({ item }: ItemProps) {
  const t = useText(text)
  const agent = useAgent()
  const { id, conversation_id = '' } = item
  const to = `${agent.home}/chat`
  return (
    <>
      <Part name="approval" toolCallId={id} />
      <Actions
        links={
          <LinkButton kind="quiet" to={to} search={{ conversation: conversation_id }}>
            {t.openConversation}
          </LinkButton>
        }
      />
    </>
  )
}

function OpenRun({ item: { workflow_id = '', execution_id = '' } }: ItemProps) {
  const t = useText(text)
  const agent = useAgent()
  return (
    <LinkButton kind="quiet" to={`${agent.home}/workflows/${path`${workflow_id}/runs/${execution_id}`}`}>
      {t.openRun}
    </LinkButton>
  )
}

function WorkflowApproval({ item }: ItemProps) {
  const t = useText(text)
  const agent = useAgent()
  const { decide, isPending } = useDecision(decideStep(agent, item), (_answer, approved) =>
    approved ? t.approved(item.title) : t.denied(item.title),
  )
  return (
    <>
      <p className="detail">{questionOf(item.detail)}</p>
      <Actions links={<OpenRun item={item} />}>
        <Button disabled={isPending} onClick={() => decide(false)}>
          {t.reject}
        </Button>
        <Button kind="primary" icon="check" disabled={isPending} onClick={() => decide(true)}>
          {t.approve}
        </Button>
      </Actions>
    </>
  )
}

/** Returns the text of `{"approval":"…"}`; its end might be missing. */
function questionOf(detail: string): string {
  const [, written = detail, end] =
    /^\{"approval":"((?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*)("?)/i.exec(detail) ?? []
  return written === detail ? detail : `${JSON.parse(`"${written}"`)}${end === '' ? '…' : ''}`
}

function WaitingRun({ item }: ItemProps) {
  const t = useText(text)
  const agent = useAgent()
  const { decide, isPending } = useDecision(terminateRun(agent, item), () => t.terminated)
  async function terminate() {
    const question = { title: t.terminateTitle(item.title), text: t.terminateText, action: t.terminate }
    if (await confirm({ ...question, isDangerous: true })) decide(undefined)
  }
  const isTime = !Number.isNaN(Date.parse(item.detail))
  return (
    <>
      <p className="detail">
        {isTime ? (
          <>
            {t.waitsUntil} <Time at={item.detail} />
          </>
        ) : (
          item.detail
        )}
      </p>
      <Actions links={<OpenRun item={item} />}>
        <Button icon="stop" disabled={isPending} onClick={() => void terminate()}>
          {t.terminate}
        </Button>
      </Actions>
    </>
  )
}

function FailedRun({ item }: ItemProps) {
  const t = useText(text)
  const agent = useAgent()
  const { decide, isPending } = useDecision(retryRun(agent, item), () => t.retried)
  return (
    <>
      <p className="detail error">{item.detail}</p>
      <Actions links={<OpenRun item={item} />}>
        <Button icon="refresh" disabled={isPending} onClick={() => decide(undefined)}>
          {t.retry}
        </Button>
      </Actions>
    </>
  )
}

function Takeover({ item }: ItemProps) {
  const t = useText(text)
  const agent = useAgent()
  const { data } = useQuery(query(getTakeover(agent, item)))
  const { decide, isPending } = useDecision(endTakeover(agent, item), () => t.handedBack)
  return (
    <>
      <p className="detail">
        {data?.reason} {data && <span className="hint">{t.askedBy(data.requested_by)}</span>}
      </p>
      <Actions
        links={
          <ViewLink views={['browsers/$sessionId', 'browsers']} id={item.session_id} label={t.openBrowser} />
        }
      >
        <Button disabled={isPending} onClick={() => decide(undefined)}>
          {t.handBack}
        </Button>
        {data?.takeover_url && (
          <a className="btn primary" href={data.takeover_url} target="_blank" rel="noreferrer">
            {t.takeOver}
          </a>
        )}
      </Actions>
    </>
  )
}

function Definition({ item }: ItemProps) {
  const t = useText(text)
  return (
    <>
      <p className="detail">{t.ofServer(item.detail)}</p>
      <Actions
        links={<ViewLink views={['mcp/$serverId', 'mcp', 'tools']} id={item.server_id} label={t.review} />}
      />
    </>
  )
}

function Notification({ item }: ItemProps) {
  const t = useText(text)
  const agent = useAgent()
  const [isMatching, setMatching] = useState(false)
  const { decide, isPending } = useDecision(recordPayment(agent, item), () => t.recorded)
  return (
    <>
      <p className="detail">{item.detail}</p>
      <Actions>
        <Button disabled={isPending} onClick={() => decide(undefined)}>
          {t.record}
        </Button>
        <Button kind="primary" icon="link" onClick={() => setMatching(true)}>
          {t.match}
        </Button>
      </Actions>
      {isMatching && <Match item={item} onClose={() => setMatching(false)} />}
    </>
  )
}

function FailedSource({ item }: ItemProps) {
  const t = useText(text)
  const agent = useAgent()
  const { decide, isPending } = useDecision(refreshSource(agent, item), () => t.refreshed(item.title))
  return (
    <>
      <p className="detail error">{item.detail}</p>
      <Actions
        links={<ViewLink views={['knowledge/$sourceId', 'knowledge']} id={item.id} label={t.openSource} />}
      >
        <Button icon="refresh" disabled={isPending} onClick={() => decide(undefined)}>
          {t.refresh}
        </Button>
      </Actions>
    </>
  )
}

function FailedNotice({ item }: ItemProps) {
  return <p className="detail error">{item.detail}</p>
}

interface ViewLinkProps {
  /** Paths of views; the first that exists is linked. */
  views: readonly string[]
  /** The value of the path's parameter. */
  id: string | undefined
  label: string
}

function ViewLink({ views: wanted, id = '', label }: ViewLinkProps) {
  const agent = useAgent()
  const view = wanted.find(one => views.some(known => known.path === one && agent.may(known.needs)))
  if (view === undefined) return null
  return (
    <LinkButton kind="quiet" to={`${agent.home}/${view.replace(/\$\w+/, encodeURIComponent(id))}`}>
      {label}
    </LinkButton>
  )
}
