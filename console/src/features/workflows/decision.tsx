import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { decideNode, type Execution, executionLists, type NodeResult } from './requests.ts'
import { text } from './text.ts'
import { questionOf } from './timeline.ts'

/** A step that waits for a person, with its buttons. */
export function Decision({ run, result }: { run: Pick<Execution, 'id'>; result: NodeResult }) {
  const t = useText(text)
  const agent = useAgent()
  const { node_id: node, path } = result
  const { mutate, isPending } = useChange(decideNode(agent, run.id), {
    changes: executionLists(agent),
    onDone: () => toast(t.decided),
  })
  const decide = (approved: boolean) =>
    mutate({ node, approved, ...(path !== '' && { path }) }, { onError: toastError })
  return (
    <section className="decision" aria-label={t.asks(node)}>
      <p>
        <b>{t.asks(node)}</b> {path !== '' && t.iteration(path)}
      </p>
      <p className="question">{questionOf(result)}</p>
      <div className="actions">
        <Button disabled={isPending} onClick={() => decide(false)}>
          {t.reject}
        </Button>
        <Button kind="primary" icon="check" disabled={isPending} onClick={() => decide(true)}>
          {t.approve}
        </Button>
      </div>
    </section>
  )
}
