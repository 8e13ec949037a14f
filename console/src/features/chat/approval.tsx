import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import { query, useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast } from '#console/ui/toast.tsx'
import {
  type Approval,
  chatOf,
  decideApproval,
  listApprovals,
  type ToolCall,
  type Waiting,
} from './requests.ts'
import { text } from './text.ts'
import './answer.css'

/** The part `approval`: a call that waits for a person, as other views show it. */
export default function ApprovalPart({ toolCallId }: { toolCallId: string }) {
  const t = useText(text)
  const { data, error } = useQuery(query(listApprovals(chatOf(useAgent()))))
  if (error) return <Problem error={error} />
  if (data === undefined) return null
  const approval = data.approvals.find(one => one.toolCallId === toolCallId)
  if (approval === undefined) return <p className="hint">{t.approvalGone}</p>
  const { name, arguments: given, waiting } = approval
  return <ApprovalButtons call={{ id: toolCallId, name, arguments: given }} waits={waiting} isReady />
}

/** The call that a waiting turn shows. */
export function WaitingCall({ waits }: { waits: Waiting }) {
  const { approval_id: id, session_id, tool: name, arguments: given } = waits
  if (id !== undefined) return <ApprovalButtons call={{ id, name, arguments: given }} waits={waits} isReady />
  return session_id === undefined ? null : <WaitingBrowser sessionId={session_id} {...waits} />
}

function WaitingBrowser({ sessionId, why, until }: Pick<Waiting, 'why' | 'until'> & { sessionId: string }) {
  const t = useText(text)
  const agent = useAgent()
  return (
    <div className="ask-person">
      <p>{t.takeover(why)}</p>
      <p className="hint">
        {t.endsWithout} <Time at={until} />
      </p>
      <Decision mayDecide={agent.may('change')} approvers="admins" isReady>
        <LinkButton kind="primary" to={`${agent.home}/browser/${encodeURIComponent(sessionId)}`}>
          {t.openBrowser}
        </LinkButton>
      </Decision>
    </div>
  )
}

interface ApprovalProps {
  call: ToolCall
  /** The turn that continues after the decision; without one, the result is for the next message. */
  waits?: Approval['waiting']
  /** True once the answer has ended: its conversation is locked until then. */
  isReady: boolean
}

/** Buttons that approve or refuse a call. */
export function ApprovalButtons({ call, waits, isReady }: ApprovalProps) {
  const t = useText(text)
  const agent = useAgent()
  const chat = chatOf(agent)
  const place = useRef<HTMLDivElement>(null)
  const decide = useChange(decideApproval(chat, call.id), {
    changes: [chat, `${agent.api}/attention`],
    onDone({ success, error, turn }, isApproved) {
      // The buttons disappear, so the focus of keyboard users moves to the conversation.
      place.current?.closest<HTMLElement>('.scroller')?.focus()
      if (turn) toast(isApproved ? t.goesOn : t.goesOnWithout)
      else toast(isApproved ? (success ? t.approved : (error ?? '')) : t.denied)
    },
  })
  const approvers = waits?.approvers ?? 'admins'
  const mayDecide = agent.may('change') || (approvers === 'chat' && agent.may('talk'))
  return (
    <div className="ask-person" ref={place}>
      <p>
        <b>{t.approvalTitle(call.name)}</b> {t.why[waits?.rule === 'always' ? 'always' : 'tainted']}
      </p>
      {waits?.sends_to !== undefined && (
        <p>
          {t.sendsTo} <code>{waits.sends_to}</code>
        </p>
      )}
      <CodeBlock label={`${t.arguments}: ${call.name}`} text={JSON.stringify(call.arguments, undefined, 2)} />
      {waits && (
        <p className="hint">
          {t.endsWithout} <Time at={waits.until} />
        </p>
      )}
      {decide.error && (
        <p className="error" role="alert">
          {decide.error.message}
        </p>
      )}
      <Decision mayDecide={mayDecide} approvers={approvers} isReady={isReady}>
        <Button disabled={decide.isPending} onClick={() => decide.mutate(false)}>
          {t.deny}
        </Button>
        <Button kind="primary" disabled={decide.isPending} onClick={() => decide.mutate(true)}>
          {t.approve}
        </Button>
      </Decision>
    </div>
  )
}

interface DecisionProps {
  mayDecide: boolean
  approvers: Waiting['approvers']
  isReady: boolean
  children: ReactNode
}

function Decision({ mayDecide, approvers, isReady, children }: DecisionProps) {
  const t = useText(text)
  if (!mayDecide) return <p className="hint">{t.approvalOthers[approvers]}</p>
  return isReady ? <div className="actions">{children}</div> : <p className="hint">{t.approvalLater}</p>
}
