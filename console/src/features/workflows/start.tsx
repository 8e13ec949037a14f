import { useNavigate } from '@tanstack/react-router'
import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import type { JsonSchema, Values } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { toast } from '#console/ui/toast.tsx'
import { executionLists, startWorkflow, type Workflow } from './requests.ts'
import { exampleInput } from './steps.ts'
import { text } from './text.ts'

interface StartProps {
  workflow: Workflow
  /** The input of a run that is repeated. */
  input?: Record<string, unknown>
  onClose(): void
}

/** A form that starts a workflow: with fields if it declares its parameters, else with JSON. */
export function Start({ workflow, input, onClose }: StartProps) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const start = useChange(startWorkflow(agent), { changes: executionLists(agent) })
  const parameters = workflow.tool?.parameters as JsonSchema | undefined
  const isDeclared = Object.keys(parameters?.properties ?? {}).length > 0
  const json = {
    properties: { input: { type: 'object', title: t.input, description: t.inputHint } },
  }
  const bodyOf = (values: Values) => ({
    workflow_id: workflow.id,
    ...(isDeclared ? { input: values } : (values as { input?: Record<string, unknown> })),
  })
  const initial = input ?? exampleInput(workflow)
  return (
    <Dialog title={t.runTitle(workflow.name)} onClose={onClose}>
      <SchemaForm
        schema={isDeclared && parameters ? parameters : json}
        initial={isDeclared ? (input ?? {}) : { input: initial }}
        submit={t.run}
        request={values => startWorkflow(agent)(bodyOf(values))}
        onCancel={onClose}
        onSubmit={async values => {
          const { execution_id } = await start.mutateAsync(bodyOf(values))
          toast(t.startedRun)
          onClose()
          await navigate({ to: `${agent.home}/workflows/${workflow.id}/runs/${execution_id}` })
        }}
      />
    </Dialog>
  )
}
