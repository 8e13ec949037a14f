import { useNavigate } from '@tanstack/react-router'
import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Section } from '#console/ui/section.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { agentLists, changeAgent, deleteAgent } from '../requests.ts'
import { text } from './text.ts'

/** Actions that stop the agent, for a while or for ever. */
export function Danger() {
  const t = useText(text)
  const { id, name, status, may } = useAgent()
  const navigate = useNavigate()
  const change = useChange(changeAgent, { changes: agentLists })
  const removal = useChange(deleteAgent, {
    changes: agentLists,
    onDone() {
      toast(t.deleted(name))
      void navigate({ to: '/a/default/agents' })
    },
  })
  const isActive = status === 'active'
  if (id === 'default') return <Section title={t.tabs.danger} text={t.defaultStays} />

  async function remove() {
    const question = { title: t.deleteTitle(name), text: t.deleteText, action: t.delete, typed: name }
    if (await confirm({ ...question, isDangerous: true })) removal.mutate(id, { onError: toastError })
  }

  return (
    <>
      <Section title={isActive ? t.pause : t.resume} text={isActive ? t.pauseText : t.resumeText}>
        <div>
          <Button
            icon={isActive ? 'pause' : 'play'}
            onClick={() =>
              change.mutate({ id, status: isActive ? 'paused' : 'active' }, { onError: toastError })
            }
          >
            {isActive ? t.pause : t.resume}
          </Button>
        </div>
      </Section>
      {may('own') && (
        <Section title={t.delete} text={t.deleteText}>
          <div>
            <Button kind="danger" icon="trash" onClick={() => void remove()}>
              {t.delete}
            </Button>
          </div>
        </Section>
      )}
    </>
  )
}
