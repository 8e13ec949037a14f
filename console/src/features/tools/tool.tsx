import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { query, queryClient, useChange } from '#console/api/query.ts'
import { path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { Tabs } from '#console/ui/tabs.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import type { toolSearch } from './feature.ts'
import { type AgentTool, deleteTool, getTool, toolsPath } from './requests.ts'
import { TestForm } from './test-form.tsx'
import { text } from './text.ts'
import { ToolForm } from './tool-form.tsx'
import { Enabled } from './tool-list.tsx'
import { isImported } from './tool-values.ts'
import './tools.css'

export const prefetch = ({ agent, params: { toolId } }: LoadContext<'toolId'>) =>
  queryClient.prefetchQuery(query(getTool(agent, toolId)))

/** One tool, with its test, settings, switch and deletion. */
export default function ToolView({
  params: { toolId },
  search: { tab = 'test' },
}: ViewProps<'toolId', typeof toolSearch>) {
  const agent = useAgent()
  const { data, error } = useQuery(query(getTool(agent, toolId)))
  if (error && data === undefined) return <Problem error={error} />
  return data && <Shown key={data.data.id} tool={data.data} tab={tab} />
}

function Shown({ tool, tab }: { tool: AgentTool; tab: (typeof toolSearch.tab)[number] }) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { id, name, type, description, cluster } = tool
  const removal = useChange(deleteTool(agent), {
    changes: [toolsPath(agent)],
    onDone: () => toast(t.removed(name)),
  })

  async function remove() {
    const question = { title: t.removeTitle(name), text: t.removeText, action: t.remove }
    if (!(await confirm({ ...question, isDangerous: true }))) return
    // The view is left first because a deleted tool cannot be read again.
    await navigate({ to: `${agent.home}/tools` })
    await removal.mutateAsync(id).catch(toastError)
  }

  return (
    <div className="page">
      <Heading
        title={name}
        detail={
          <>
            <span>{t.kinds[type]}</span>
            {cluster !== undefined && (
              <Link to={`${agent.home}/tools/cluster/${path`${cluster}`}`}>{cluster}</Link>
            )}
            <Enabled tool={tool} isLabelled />
          </>
        }
      >
        <LinkButton to={`${agent.home}/tools`} kind="quiet" icon="previous">
          {t.back}
        </LinkButton>
        {agent.may('change') && (
          <Button kind="danger" icon="trash" onClick={() => void remove()}>
            {t.remove}
          </Button>
        )}
      </Heading>
      {description !== '' && <p className="lead">{description}</p>}
      <Tabs
        label={t.sections}
        tabs={[
          { name: 'test', title: t.test },
          { name: 'definition', title: t.definition },
        ]}
        chosen={tab}
        onChoose={next =>
          void navigate({ to: '.', search: next === 'test' ? {} : { tab: next }, replace: true })
        }
      >
        <div className="tab">{tab === 'test' ? <TestForm tool={tool} /> : <Definition tool={tool} />}</div>
      </Tabs>
    </div>
  )
}

function Definition({ tool }: { tool: AgentTool }) {
  const t = useText(text)
  const isEditable = useAgent().may('change')
  return (
    <>
      {isEditable && <ToolForm key={tool.updated_at} tool={tool} />}
      {(isImported(tool) || !isEditable) && (
        <section className="definition">
          {isImported(tool) && <p className="hint">{t.imported}</p>}
          <CodeBlock label={t.definition} text={JSON.stringify(tool.configuration, undefined, 2)} />
        </section>
      )}
    </>
  )
}
