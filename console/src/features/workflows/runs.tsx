import { useRows } from '#console/api/query.ts'
import { formatDuration } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { type Column, List } from '#console/ui/list.tsx'
import { Status, type Tone } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import { type ExecutionSummary, listExecutions, type WorkflowSummary } from './requests.ts'
import { cut } from './steps.ts'
import { text } from './text.ts'

const runTones: Record<ExecutionSummary['status'] | 'waiting', Tone> = {
  queued: 'plain',
  running: 'info',
  waiting: 'warn',
  complete: 'good',
  errored: 'bad',
  terminated: 'plain',
}

export function RunStatus({ run }: { run: Pick<ExecutionSummary, 'status' | 'waiting_until'> }) {
  const t = useText(text)
  const status = run.status === 'running' && run.waiting_until !== null ? 'waiting' : run.status
  return <Status tone={runTones[status]}>{t.runStates[status]}</Status>
}

interface RunsProps {
  filters: { workflow_id?: string; status?: string }
  /** The workflows with their names, for runs of several workflows. */
  workflows?: readonly WorkflowSummary[] | undefined
  /** The run that is shown above the list. */
  chosen?: string | undefined
}

/** Runs, latest first. */
export function Runs({ filters, workflows, chosen }: RunsProps) {
  const t = useText(text)
  const agent = useAgent()
  const rows = useRows<ExecutionSummary>(listExecutions(agent, filters), 'executions')
  const nameOf = (id: string) => workflows?.find(workflow => workflow.id === id)?.name ?? id
  const isOfOne = filters.workflow_id !== undefined
  const columns: Column<ExecutionSummary>[] = [
    {
      title: isOfOne ? t.started : t.workflow,
      cell: ({ id, workflow_id, started_at, created_at }) =>
        isOfOne ? (
          <span aria-current={id === chosen ? 'true' : undefined} className="run-time">
            <Time at={started_at ?? created_at} />
          </span>
        ) : (
          <b>{cut(nameOf(workflow_id))}</b>
        ),
    },
    { title: t.status, cell: run => <RunStatus run={run} /> },
    ...(isOfOne
      ? []
      : [
          {
            title: t.started,
            cell: ({ started_at, created_at }: ExecutionSummary) => <Time at={started_at ?? created_at} />,
          },
        ]),
    { title: t.cause, cell: ({ cause }) => t.causes[cause.kind] ?? cause.kind },
    { title: t.problem, cell: ({ error }) => error && <span className="error">{cut(error)}</span> },
    {
      title: t.duration,
      isAtEnd: true,
      cell: ({ started_at, completed_at }) =>
        started_at !== null &&
        completed_at !== null && (
          <span className="num">{formatDuration(Date.parse(completed_at) - Date.parse(started_at))}</span>
        ),
    },
  ]
  return (
    <List
      {...rows}
      label={t.runs}
      columns={columns}
      keyOf={({ id }) => id}
      linkOf={({ id, workflow_id }) =>
        `${agent.home}/workflows/${encodeURIComponent(workflow_id)}/runs/${encodeURIComponent(id)}`
      }
      empty={<Empty title={t.noRuns} text={t.noRunsText} />}
    />
  )
}
