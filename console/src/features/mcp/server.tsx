import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { invalidate, query, queryClient, useChange } from '#console/api/query.ts'
import { path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { CodeBlock, Diff } from '#console/ui/code.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { Status } from '#console/ui/status.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import {
  approveTools,
  deleteServer,
  getServer,
  listTools,
  type McpTool,
  serversPath,
  type ToolList,
} from './requests.ts'
import { ServerStatus } from './servers.tsx'
import { text } from './text.ts'
import './mcp.css'

export const prefetch = ({ agent, params: { serverId } }: LoadContext<'serverId'>) =>
  queryClient.prefetchQuery(query(getServer(agent, serverId)))

/** One MCP server: its state, and the definitions of its tools for approval. */
export default function Server({ params: { serverId } }: ViewProps<'serverId'>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { data: server, error } = useQuery(query(getServer(agent, serverId)))
  const tools = useQuery(query(listTools(agent, serverId)))
  const removal = useChange(deleteServer(agent), {
    changes: [serversPath(agent)],
    onDone: () => toast(t.removed(server?.name ?? '')),
  })
  if (error && server === undefined) return <Problem error={error} />
  if (server === undefined) return null
  const { name, url, status } = server

  async function remove() {
    const question = { title: t.removeTitle(name), text: t.removeText, action: t.remove }
    if (!(await confirm({ ...question, isDangerous: true }))) return
    // The view is left first because a deleted server cannot be read again.
    await navigate({ to: `${agent.home}/mcp` })
    await removal.mutateAsync(serverId).catch(toastError)
  }

  return (
    <div className="page">
      <Heading
        title={name}
        detail={
          <>
            <ServerStatus status={status} />
            <span className="mono">{url}</span>
          </>
        }
      >
        <LinkButton to={`${agent.home}/mcp`} kind="quiet" icon="previous">
          {t.back}
        </LinkButton>
        <Button
          icon="refresh"
          disabled={tools.isFetching}
          onClick={() => void invalidate([`${serversPath(agent)}/${path`${serverId}`}`])}
        >
          {t.refresh}
        </Button>
        {agent.may('change') && (
          <Button kind="danger" icon="trash" onClick={() => void remove()}>
            {t.remove}
          </Button>
        )}
      </Heading>
      {server.error !== undefined && <p className="error">{server.error}</p>}
      {tools.error && tools.data === undefined && <Problem error={tools.error} />}
      <p role="status" className={tools.isPending ? 'hint' : 'sr'}>
        {tools.isFetching && t.reading}
      </p>
      {tools.data && <Tools key={serverId} serverId={serverId} list={tools.data} />}
    </div>
  )
}

function Tools({ serverId, list: { tools, skipped } }: { serverId: string; list: ToolList }) {
  const t = useText(text)
  const agent = useAgent()
  const waiting = tools.filter(({ status }) => status !== 'approved')
  const approved = tools.filter(({ status }) => status === 'approved')
  const approval = useChange(approveTools(agent, serverId), {
    changes: [serversPath(agent), `${agent.api}/attention`],
    onDone: answer => toast(t.approved(answer.approved)),
  })
  const approve = (chosen: readonly McpTool[]) =>
    approval.mutate(chosen, {
      onError(error) {
        toastError(error)
        // A definition has changed meanwhile: this shows the current one.
        void invalidate([serversPath(agent)])
      },
    })
  return (
    <>
      {waiting.length > 0 && (
        <section className="definitions" aria-label={t.waiting(waiting.length)}>
          <Heading title={t.waiting(waiting.length)}>
            {agent.may('change') && waiting.length > 1 && (
              <Button disabled={approval.isPending} onClick={() => approve(waiting)}>
                {t.approveAll(waiting.length)}
              </Button>
            )}
          </Heading>
          <p className="hint">{t.waitingText}</p>
          {waiting.map(tool => (
            <section key={tool.name} className="card definition" aria-label={tool.name}>
              <Heading
                title={tool.name}
                detail={
                  <Status tone={tool.status === 'new' ? 'info' : 'warn'}>
                    {tool.status === 'new' ? t.isNew : t.isChanged}
                  </Status>
                }
              >
                {agent.may('change') && (
                  <Button
                    kind="primary"
                    icon="check"
                    disabled={approval.isPending}
                    onClick={() => approve([tool])}
                  >
                    {t.approve} <span className="sr">{tool.name}</span>
                  </Button>
                )}
              </Heading>
              <Definition tool={tool} />
            </section>
          ))}
        </section>
      )}
      <section className="definitions" aria-label={t.offered}>
        <h3>{t.offered}</h3>
        {approved.length === 0 && <Empty title={t.noTools} text={t.noToolsText} />}
        {approved.map(tool => (
          <details key={tool.name} className="card definition">
            <summary>
              <b>{tool.name}</b> <span className="hint">{tool.description.slice(0, 200)}</span>
            </summary>
            <Definition tool={tool} />
            {agent.may('change') && (
              <LinkButton
                to={`${agent.home}/tools/new`}
                search={{ type: 'mcp', server: serverId, tool: tool.name }}
                icon="tool"
              >
                {t.ownTool}
              </LinkButton>
            )}
          </details>
        ))}
      </section>
      {skipped.length > 0 && (
        <details className="card definition">
          <summary>{t.skipped(skipped.length)}</summary>
          <dl>
            {skipped.map(({ name, reason }) => (
              <div key={`${name} ${reason}`}>
                <dt className="mono">{name.slice(0, 200)}</dt>
                <dd className="hint">{reason}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}

/** The server's description of a tool; if it changed, beside the approved one. */
function Definition({ tool }: { tool: McpTool }) {
  const t = useText(text)
  const { name, status, approved } = tool
  const now = textOf(tool)
  if (status !== 'changed') return <CodeBlock label={t.definition(name)} text={now} />
  const before = approved && textOf(approved)
  const hint = before === undefined ? t.unknownBefore : before === now ? t.otherChanged : undefined
  return (
    <>
      {hint !== undefined && <p className="hint">{hint}</p>}
      {before === undefined || before === now ? (
        <CodeBlock label={t.definition(name)} text={now} />
      ) : (
        <Diff label={t.changes(name)} before={before} after={now} />
      )}
    </>
  )
}

const textOf = ({ description, parameters }: Pick<McpTool, 'description' | 'parameters'>) =>
  `${description}\n\n${JSON.stringify(parameters, undefined, 2)}`
