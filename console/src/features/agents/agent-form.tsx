import type { AgentRow } from '#console/api/caller.ts'
import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { Dialog } from '#console/ui/dialog.tsx'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { toast } from '#console/ui/toast.tsx'
import { agentLists, changeAgent, createAgent } from './requests.ts'
import { text } from './text.ts'

interface Fields {
  name: string
  description?: string
}

/** A form that creates an agent, or changes the name and description of one. */
export function AgentForm({ agent, onClose }: { agent?: AgentRow; onClose(): void }) {
  const t = useText(text)
  const changes = agentLists
  const create = useChange(createAgent, { changes, onDone: ({ name }) => toast(t.created(name)) })
  const change = useChange(changeAgent, { changes })
  const schema = {
    required: ['name'],
    properties: {
      name: { type: 'string', title: t.name, description: t.nameHint, maxLength: 64, examples: ['support'] },
      description: { type: 'string', title: t.description, format: 'multiline', maxLength: 500 },
    },
  }
  const requestOf = (values: object) =>
    agent === undefined ? createAgent(values as Fields) : changeAgent({ id: agent.id, ...(values as Fields) })
  return (
    <Dialog title={agent === undefined ? t.create : t.editTitle(agent.name)} onClose={onClose}>
      <SchemaForm
        schema={schema}
        initial={{ name: agent?.name, description: agent?.description }}
        submit={agent === undefined ? t.create : t.save}
        request={requestOf}
        onCancel={onClose}
        onSubmit={async values => {
          const fields = values as unknown as Fields
          if (agent === undefined) await create.mutateAsync(fields)
          else await change.mutateAsync({ id: agent.id, description: '', ...fields })
          onClose()
        }}
      />
    </Dialog>
  )
}
