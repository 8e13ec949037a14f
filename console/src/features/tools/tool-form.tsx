import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { Values } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { toast } from '#console/ui/toast.tsx'
import { type AgentTool, changeTool, createTool, type ToolType, toolsPath } from './requests.ts'
import { text } from './text.ts'
import { changesOf, isImported, newToolOf, schemaOf, valuesOf } from './tool-values.ts'

/** Adds a tool of a kind. */
export function NewToolForm({
  type,
  initial,
  onDone,
}: {
  type: ToolType
  initial: Partial<AgentTool>
  onDone(tool: AgentTool): void
}) {
  const t = useText(text)
  const agent = useAgent()
  const create = useChange(createTool(agent), { changes: [toolsPath(agent)] })
  return (
    <SchemaForm
      schema={schemaOf(type, t.fields)}
      initial={valuesOf(initial)}
      submit={t.add}
      request={values => createTool(agent)(newToolOf(type, values))}
      onSubmit={async values => onDone((await create.mutateAsync(newToolOf(type, values))).data)}
    />
  )
}

/** Changes a tool. */
export function ToolForm({ tool }: { tool: AgentTool }) {
  const t = useText(text)
  const agent = useAgent()
  const change = useChange(changeTool(agent), {
    changes: [toolsPath(agent)],
    onDone: () => toast(t.saved),
  })
  const bodyOf = (values: Values) => ({ id: tool.id, ...changesOf(values) })
  return (
    <SchemaForm
      schema={schemaOf(tool.type, t.fields, !isImported(tool))}
      initial={valuesOf(tool)}
      submit={t.save}
      request={values => changeTool(agent)(bodyOf(values))}
      onSubmit={values => change.mutateAsync(bodyOf(values))}
    />
  )
}
