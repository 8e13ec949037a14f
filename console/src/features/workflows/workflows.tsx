import { useNavigate } from '@tanstack/react-router'
import { listQuery, queryClient, useChange, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, SearchOf, ViewProps } from '#console/shell/view.ts'
import { Button } from '#console/ui/button.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { SelectField } from '#console/ui/field.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { type Column, List } from '#console/ui/list.tsx'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Status } from '#console/ui/status.tsx'
import { Tabs } from '#console/ui/tabs.tsx'
import { Time } from '#console/ui/time.tsx'
import { workflowsSearch } from './feature.ts'
import { createWorkflow, listWorkflows, type WorkflowSummary, workflowsPath } from './requests.ts'
import { Runs } from './runs.tsx'
import { text } from './text.ts'
import './workflows.css'

export const prefetch = ({ agent }: LoadContext) =>
  queryClient.prefetchInfiniteQuery(listQuery<WorkflowSummary>(listWorkflows(agent), 'workflows'))

export const workflowTones = { draft: 'plain', active: 'good', paused: 'warn', archived: 'plain' } as const

type Search = SearchOf<typeof workflowsSearch>
const statuses = workflowsSearch.status

/** The workflows of an agent, and all of their runs. */
export default function Workflows({
  search: { show, status, create },
}: ViewProps<never, typeof workflowsSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const search = (next: Search) => void navigate({ to: '.', search: next })
  const rows = useRows<WorkflowSummary>(listWorkflows(agent), 'workflows')
  const columns: Column<WorkflowSummary>[] = [
    { title: t.name, cell: ({ name }) => <b>{name.slice(0, 200)}</b> },
    { title: t.description, cell: ({ description }) => description.slice(0, 200) },
    {
      title: t.status,
      cell: row => <Status tone={workflowTones[row.status]}>{t.workflowStates[row.status]}</Status>,
    },
    { title: t.changed, cell: ({ updated_at }) => <Time at={updated_at} />, isAtEnd: true },
  ]
  const button = agent.may('change') && (
    <Button kind="primary" icon="plus" onClick={() => search({ create: 1 })}>
      {t.create}
    </Button>
  )
  return (
    <div className="page">
      <Heading detail={show !== 'runs' && rows.total !== undefined && t.count(rows.total)}>
        {rows.total !== 0 && button}
      </Heading>
      <Tabs
        label={t.view}
        tabs={[
          { name: 'workflows', title: t.workflows },
          { name: 'runs', title: t.runs },
        ]}
        chosen={show ?? 'workflows'}
        onChoose={name => search(name === 'runs' ? { show: name } : {})}
      >
        {show === 'runs' ? (
          <div className="workflow-runs">
            <SelectField
              label={t.status}
              value={status ?? ''}
              choices={[
                { value: '', label: t.allStatuses },
                ...statuses.map(value => ({ value, label: t.runStates[value] })),
              ]}
              onChange={value => search({ show, status: statuses.find(one => one === value) })}
            />
            <Runs filters={status === undefined ? {} : { status }} workflows={rows.rows} />
          </div>
        ) : (
          <List
            {...rows}
            label={t.workflows}
            columns={columns}
            keyOf={({ id }) => id}
            linkOf={({ id }) => `${agent.home}/workflows/${encodeURIComponent(id)}`}
            empty={
              <Empty title={t.none} text={t.noneText}>
                {button}
              </Empty>
            }
          />
        )}
      </Tabs>
      {create !== undefined && agent.may('change') && <Create onClose={() => search({})} />}
    </div>
  )
}

function Create({ onClose }: { onClose(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const create = useChange(createWorkflow(agent), { changes: [workflowsPath(agent)] })
  const schema = {
    required: ['name'],
    properties: {
      name: { type: 'string', title: t.name, maxLength: 200 },
      description: { type: 'string', title: t.description, format: 'multiline', maxLength: 2000 },
    },
  }
  const bodyOf = (values: object) => ({
    ...(values as { name: string; description?: string }),
    nodes: [{ id: 'start', type: 'trigger', position: { x: 0, y: 0 }, data: {} }],
    edges: [],
  })
  return (
    <Dialog title={t.create} onClose={onClose}>
      <p className="hint">{t.createText}</p>
      <SchemaForm
        schema={schema}
        submit={t.create}
        request={values => createWorkflow(agent)(bodyOf(values))}
        onCancel={onClose}
        onSubmit={async values => {
          const { id } = await create.mutateAsync(bodyOf(values))
          await navigate({ to: `${agent.home}/workflows/${id}`, search: { edit: 1 } })
        }}
      />
    </Dialog>
  )
}
