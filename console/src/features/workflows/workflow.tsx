import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState, useSyncExternalStore } from 'react'
import type { DefinitionProblem } from '#console/api/errors.ts'
import { query, queryClient, useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { type Agent, useAgent } from '#console/shell/agent.tsx'
import type { SearchOf } from '#console/shell/view.ts'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { Menu } from '#console/ui/menu.tsx'
import { Status } from '#console/ui/status.tsx'
import { Segments } from '#console/ui/tabs.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { DefinitionPanel } from './definition-panel.tsx'
import type { workflowSearch } from './feature.ts'
import { Graph } from './graph.tsx'
import { Outline } from './outline.tsx'
import { Replay } from './replay.tsx'
import {
  changeWorkflow,
  type Definition,
  deleteWorkflow,
  type Execution,
  executionLists,
  getExecution,
  getWorkflow,
  type Workflow,
  workflowsPath,
} from './requests.ts'
import { Runs } from './runs.tsx'
import { Start } from './start.tsx'
import { StepPanel } from './step-panel.tsx'
import { type Step, stepsOf } from './steps.ts'
import { text } from './text.ts'
import { resultsAt, type StepState, stateOf, type TimedResult, timelineOf } from './timeline.ts'
import { workflowTones } from './workflows.tsx'
import './workflow.css'

interface Opened {
  workflowId: string
  executionId?: string
}

export const prefetch = ({ agent, params }: { agent: Agent; params: Opened }) =>
  Promise.all([
    queryClient.prefetchQuery(query(getWorkflow(agent, params.workflowId))),
    params.executionId && queryClient.prefetchQuery(query(getExecution(agent, params.executionId))),
  ])

/** The data that the graph and the outline show of a step beside its definition. */
export interface Shown {
  /** Undefined if no run is shown. */
  state: StepState | undefined
  results: readonly TimedResult[]
  problems: readonly DefinitionProblem[]
}

export interface StepsProps {
  steps: readonly Step[]
  shownOf(id: string): Shown
  chosen: string | undefined
  onChoose(id: string): void
}

type Search = SearchOf<typeof workflowSearch>

/** One workflow as a graph or an outline, with one of its runs to replay, and all of them below. */
export default function WorkflowView({ params, search }: { params: Opened; search: Required<Search> }) {
  const t = useText(text)
  const agent = useAgent()
  const { workflowId, executionId } = params
  const workflow = useQuery(query(getWorkflow(agent, workflowId)))
  const run = useQuery({
    ...query(getExecution(agent, executionId ?? '')),
    enabled: executionId !== undefined,
  })
  const error = run.error ?? (run.data === undefined ? workflow.error : null)
  if (error) return <Problem error={error} onRetry={() => void (run.error ? run : workflow).refetch()} />
  if ((workflow.data ?? workflow.error) === undefined || workflow.isPending) return null
  if (executionId !== undefined && run.data === undefined) return null
  return (
    <Loaded key={executionId} workflowId={workflowId} workflow={workflow.data} run={run.data} search={search}>
      {workflow.data === undefined && <p className="hint">{t.deletedWorkflow}</p>}
      {run.data && workflow.data && run.data.version !== workflow.data.version && (
        <p className="hint">{t.otherVersion(run.data.version, workflow.data.version)}</p>
      )}
    </Loaded>
  )
}

interface LoadedProps {
  workflowId: string
  /** Undefined if it was deleted. */
  workflow: Workflow | undefined
  run: Execution | undefined
  search: Search
  children: ReactNode
}

function Loaded({ workflowId, workflow, run, search, children }: LoadedProps) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const go = (next: Search) => void navigate({ to: '.', search: { ...search, ...next }, replace: true })
  const isNarrow = useNarrow()
  const [refused, setRefused] = useState<readonly DefinitionProblem[]>()
  const [position, setPosition] = useState(1)
  const [start, setStart] = useState<{ input?: Record<string, unknown> }>()
  const problems = refused ?? workflow?.warnings ?? []
  const { steps, timeline, isOver, shownOf } = useSteps({ workflow, run, position, problems })

  const step = steps.find(({ id }) => id === search.step)
  const isEditing = search.edit !== undefined && workflow !== undefined && agent.may('change')
  const isGraph = search.show !== 'outline' && !isNarrow
  const onChoose = (id: string) => go({ step: id, edit: undefined })
  const shown = { steps, shownOf, chosen: step?.id, onChoose }
  return (
    <div className={step || isEditing ? 'with-panel' : undefined}>
      <div className="page">
        <Header
          workflow={workflow}
          title={workflow?.name ?? workflowId}
          onEdit={() => go({ edit: 1, step: undefined })}
          onRun={() => setStart({})}
        >
          {!isNarrow && (
            <Segments
              label={t.view}
              segments={[
                { name: 'graph', title: t.graph },
                { name: 'outline', title: t.outline },
              ]}
              chosen={isGraph ? 'graph' : 'outline'}
              onChoose={name => go({ show: name === 'outline' ? name : undefined })}
            />
          )}
        </Header>
        {children}
        <GeneralProblems problems={problems} title={refused ? t.notSaved : t.problemsOfWorkflow} />
        {isGraph ? <Graph {...shown} /> : <Outline {...shown} />}
        {run && timeline && (
          <Replay
            run={run}
            timeline={timeline}
            position={position}
            onMove={setPosition}
            onAgain={() => setStart({ input: run.input })}
          />
        )}
        <h2>{t.runs}</h2>
        <Runs filters={{ workflow_id: workflowId }} chosen={run?.id} />
      </div>
      {step && !isEditing && (
        <StepPanel
          key={step.id}
          step={step}
          shown={shownOf(step.id)}
          run={run}
          isOver={isOver}
          onChoose={onChoose}
          onClose={() => go({ step: undefined })}
        />
      )}
      {isEditing && (
        <DefinitionPanel
          workflow={workflow}
          problems={refused ?? []}
          onProblems={setRefused}
          onClose={() => {
            setRefused(undefined)
            go({ edit: undefined })
          }}
        />
      )}
      {start && workflow && <Start workflow={workflow} {...start} onClose={() => setStart(undefined)} />}
    </div>
  )
}

interface StepsOptions {
  workflow: Workflow | undefined
  run: Execution | undefined
  /** The position in the run's timeline, from 0 to 1. */
  position: number
  problems: readonly DefinitionProblem[]
}

/** The steps, with their states at a time of the run. */
function useSteps({ workflow, run, position, problems }: StepsOptions) {
  const steps = useMemo(() => stepsOf(definitionOf(workflow, run)), [workflow, run])
  const timeline = useMemo(() => run && timelineOf(run, Date.now()), [run])
  const results = useMemo(() => {
    const shown = timeline ? resultsAt(timeline, timeline.timeAt(position)) : []
    return Map.groupBy(shown, ({ node_id }) => node_id)
  }, [timeline, position])
  const isOver = run?.completed_at != null && position === 1
  const shownOf = (id: string): Shown => {
    const ownResults = results.get(id) ?? []
    const state = run && stateOf(ownResults, isOver)
    return { state, results: ownResults, problems: problems.filter(({ node }) => node === id) }
  }
  return { steps, timeline, isOver, shownOf }
}

/** Returns the nodes of the workflow, and deleted ones that ran. */
function definitionOf(workflow: Workflow | undefined, run: Execution | undefined): Definition {
  const { nodes = [], edges = [] } = workflow ?? {}
  const known = new Set(nodes.map(({ id }) => id))
  const gone = new Set(run?.node_results.map(({ node_id }) => node_id).filter(id => !known.has(id)))
  const others = [...gone].map(id => ({ id, type: '', data: {}, position: { x: 0, y: 0 } }))
  return { nodes: [...nodes, ...others], edges }
}

interface HeaderProps {
  workflow: Workflow | undefined
  title: string
  onEdit(): void
  onRun(): void
  children: ReactNode
}

function Header({ workflow, title, onEdit, onRun, children }: HeaderProps) {
  const t = useText(text)
  const agent = useAgent()
  const status = workflow?.status
  return (
    <>
      <Heading
        title={title}
        detail={status && <Status tone={workflowTones[status]}>{t.workflowStates[status]}</Status>}
      >
        {children}
        {workflow && agent.may('change') && <Actions workflow={workflow} onEdit={onEdit} onRun={onRun} />}
      </Heading>
      {workflow?.description && <p className="description">{workflow.description}</p>}
    </>
  )
}

/** The number of problems, and the problems without a step. */
function GeneralProblems({ problems, title }: { problems: readonly DefinitionProblem[]; title: string }) {
  const t = useText(text)
  if (problems.length === 0) return null
  return (
    <div className="error" role="status">
      {title}: {t.problems(problems.length)}
      {problems
        .filter(({ node }) => node === undefined)
        .map(({ field, issue }) => (
          <p key={`${field} ${issue}`}>
            {field} {issue}
          </p>
        ))}
    </div>
  )
}

function Actions({ workflow, onEdit, onRun }: { workflow: Workflow; onEdit(): void; onRun(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { id, name, status } = workflow
  const change = useChange(changeWorkflow(agent, id), { changes: [workflowsPath(agent)] })
  const removal = useChange(deleteWorkflow(agent), {
    changes: executionLists(agent),
    onDone: () => {
      toast(t.removed(name))
      void navigate({ to: `${agent.home}/workflows` })
    },
  })
  const isActive = status === 'active'
  async function remove() {
    const question = { title: t.removeTitle(name), text: t.removeText, action: t.remove, typed: name }
    if (await confirm({ ...question, isDangerous: true })) removal.mutate(id, { onError: toastError })
  }
  return (
    <>
      <Button icon="edit" onClick={onEdit}>
        {t.edit}
      </Button>
      <Menu
        button={{ icon: 'more', label: t.actionsOf(name) }}
        items={[
          {
            label: isActive ? t.pause : t.activate,
            icon: isActive ? 'pause' : 'check',
            run: () => change.mutate({ status: isActive ? 'paused' : 'active' }, { onError: toastError }),
          },
          { label: t.remove, icon: 'trash', isDangerous: true, run: () => void remove() },
        ]}
      />
      <Button kind="primary" icon="play" onClick={onRun}>
        {t.run}
      </Button>
    </>
  )
}

const narrow = matchMedia('(max-width: 640px)')

/** True if the window is too narrow for a graph. */
function useNarrow(): boolean {
  return useSyncExternalStore(
    listener => {
      narrow.addEventListener('change', listener)
      return () => narrow.removeEventListener('change', listener)
    },
    () => narrow.matches,
  )
}
