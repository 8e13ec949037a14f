import { useQuery } from '@tanstack/react-query'
import { query, useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { toast } from '#console/ui/toast.tsx'
import type { ToolCall } from './requests.ts'
import { chatOf, decideApproval, listApprovals } from './requests.ts'
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
  return (
    <ApprovalButtons call={{ id: toolCallId, name: approval.name, arguments: approval.arguments }} isReady />
  )
}

/** Asks whether a call may be made. `isReady` once the answer has ended: its conversation is locked until then. */
export function ApprovalButtons({ call, isReady }: { call: ToolCall; isReady: boolean }) {
  const t = useText(text)
  const agent = useAgent()
  const chat = chatOf(agent)
  const decide = useChange(decideApproval(chat, call.id), {
    changes: [chat, `${agent.api}/attention`],
    onDone: ({ success, error }, isApproved) =>
      toast(isApproved ? (success ? t.approved : (error ?? '')) : t.denied),
  })
  return (
    <div className="ask-person">
      <p>
        <b>{t.approvalTitle(call.name)}</b> {t.approvalText}
      </p>
      <CodeBlock label={`${t.arguments}: ${call.name}`} text={JSON.stringify(call.arguments, undefined, 2)} />
      {decide.error && (
        <p className="error" role="alert">
          {decide.error.message}
        </p>
      )}
      {!agent.may('change') && <p className="hint">{t.approvalOthers}</p>}
      {agent.may('change') && !isReady && <p className="hint">{t.approvalLater}</p>}
      {agent.may('change') && isReady && (
        <div className="actions">
          <Button disabled={decide.isPending} onClick={() => decide.mutate(false)}>
            {t.deny}
          </Button>
          <Button kind="primary" disabled={decide.isPending} onClick={() => decide.mutate(true)}>
            {t.approve}
          </Button>
        </div>
      )}
    </div>
  )
}
