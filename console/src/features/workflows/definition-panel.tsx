import { useBlocker } from '@tanstack/react-router'
import { type RefObject, useRef, useState } from 'react'
import { ApiError, type DefinitionProblem } from '#console/api/errors.ts'
import { parseExact } from '#console/api/exact-json.ts'
import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { CopyCurl } from '#console/ui/code.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { TextField } from '#console/ui/field.tsx'
import { onKeys } from '#console/ui/keys.ts'
import { Panel } from '#console/ui/panel.tsx'
import { toast } from '#console/ui/toast.tsx'
import { changeWorkflow, type Workflow, workflowsPath } from './requests.ts'
import { text } from './text.ts'

interface DefinitionPanelProps {
  workflow: Workflow
  /** The server's problems of the last save. */
  problems: readonly DefinitionProblem[]
  onProblems(problems: readonly DefinitionProblem[] | undefined): void
  onClose(): void
}

/** The definition as JSON; the server checks it on saving, and its problems appear here and at the steps. */
export function DefinitionPanel({ workflow, problems, onProblems, onClose }: DefinitionPanelProps) {
  const t = useText(text)
  const agent = useAgent()
  const [base, setBase] = useState(workflow)
  const [written, setWritten] = useState(() => textOf(workflow))
  const [error, setError] = useState<string>()
  const form = useRef<HTMLFormElement>(null)
  const save = useChange(changeWorkflow(agent, workflow.id), { changes: [workflowsPath(agent)] })
  const isChanged = written !== textOf(base)

  const mayLeave = async () =>
    !isChanged ||
    (await confirm({ title: t.unsaved, text: t.unsavedText, action: t.discard, isDangerous: true }))
  useBlocker({
    shouldBlockFn: async ({ current, next }) => current.pathname !== next.pathname && !(await mayLeave()),
    enableBeforeUnload: isChanged,
    disabled: !isChanged,
  })

  const submit = () => form.current?.requestSubmit()
  async function send() {
    setError(undefined)
    onProblems(undefined)
    try {
      const saved = await save.mutateAsync(parseExact(written) as object)
      setBase(saved)
      setWritten(textOf(saved))
      toast(t.saved(saved.version))
    } catch (failure) {
      if (failure instanceof SyntaxError) return setError(t.notJson(failure.message))
      if (failure instanceof ApiError) onProblems(failure.problems)
      setError(failure instanceof Error ? failure.message : String(failure))
    }
  }

  return (
    <Panel title={t.definition} onClose={() => void mayLeave().then(may => may && onClose())}>
      <form
        ref={form}
        className="definition"
        onSubmit={event => {
          event.preventDefault()
          void send()
        }}
        onKeyDown={onKeys({ 'Control+s': submit, 'Control+Enter': submit })}
      >
        {workflow.updated_at !== base.updated_at && (
          <p className="error" role="status">
            {t.elsewhere}
          </p>
        )}
        <TextField
          label={t.definition}
          hint={t.definitionHint}
          value={written}
          onChange={setWritten}
          isLong
          isCode
        />
        {error !== undefined && problems.length === 0 && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        <Problems problems={problems} form={form} />
        <footer className="actions">
          {isJson(written) && (
            <CopyCurl request={() => changeWorkflow(agent, workflow.id)(parseExact(written) as object)} />
          )}
          <Button
            type="submit"
            kind="primary"
            disabled={!isChanged || save.isPending}
            aria-keyshortcuts="Control+S"
          >
            {t.save}
          </Button>
        </footer>
      </form>
    </Panel>
  )
}

interface ProblemsProps {
  problems: readonly DefinitionProblem[]
  /** The form with the definition's field. */
  form: RefObject<HTMLFormElement | null>
}

function Problems({ problems, form }: ProblemsProps) {
  const t = useText(text)

  /** Selects the id of a step in the text. */
  function goTo(node: string) {
    const field = form.current?.querySelector('textarea')
    const found = new RegExp(`"id"\\s*:\\s*${JSON.stringify(node)}`).exec(field?.value ?? '')
    if (field == null || found === null) return
    field.focus()
    field.setSelectionRange(found.index, found.index + found[0].length)
    field.scrollTop = (field.value.slice(0, found.index).split('\n').length - 3) * lineHeight
  }

  if (problems.length === 0) return null
  return (
    <ul className="error" role="alert">
      {problems.map(({ node, field, issue }) => (
        <li key={`${node} ${field} ${issue}`}>
          {node !== undefined && (
            <button type="button" className="link" aria-label={t.goTo(node)} onClick={() => goTo(node)}>
              {node}
            </button>
          )}{' '}
          {field} {issue}
        </li>
      ))}
    </ul>
  )
}

/** Line height of the field (px). */
const lineHeight = 20

const editable = [
  'name',
  'description',
  'status',
  'concurrency',
  'concurrency_counts_waiting',
  'keep',
  'tool',
  'nodes',
  'edges',
] as const

const textOf = (workflow: Workflow) =>
  JSON.stringify(Object.fromEntries(editable.map(name => [name, workflow[name]])), undefined, 2)

function isJson(written: string): boolean {
  try {
    return typeof parseExact(written) === 'object'
  } catch {
    return false
  }
}
