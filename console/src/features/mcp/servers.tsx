import { useNavigate } from '@tanstack/react-router'
import { listQuery, queryClient, useChange, useRows } from '#console/api/query.ts'
import { path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Button } from '#console/ui/button.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { type Column, List } from '#console/ui/list.tsx'
import type { Values } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Status } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast } from '#console/ui/toast.tsx'
import type { serversSearch } from './feature.ts'
import { listServers, type McpServer, type NewServer, registerServer, serversPath } from './requests.ts'
import { text } from './text.ts'
import './mcp.css'

export const prefetch = ({ agent }: LoadContext) =>
  queryClient.prefetchInfiniteQuery(listQuery<McpServer>(listServers(agent), 'servers'))

const tones = { connected: 'good', disconnected: 'warn', error: 'bad' } as const

/** The result of the last attempt to use a server. */
export function ServerStatus({ status }: { status: McpServer['status'] }) {
  const t = useText(text)
  return <Status tone={tones[status]}>{t.states[status]}</Status>
}

/** The MCP servers whose tools the agent may use. */
export default function Servers({ search: { add } }: ViewProps<never, typeof serversSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const rows = useRows<McpServer>(listServers(agent), 'servers')
  const open = (isOpen: boolean) => void navigate({ to: '.', search: isOpen ? { add: 1 } : {} })
  const columns: Column<McpServer>[] = [
    { title: t.name, cell: ({ name }) => <b>{name}</b> },
    { title: t.url, cell: ({ url }) => <span className="mono">{url.slice(0, 200)}</span> },
    {
      title: t.status,
      cell: ({ status, error }) => (
        <>
          <ServerStatus status={status} /> <span className="hint">{error?.slice(0, 200)}</span>
        </>
      ),
    },
    { title: t.added, isAtEnd: true, cell: ({ created_at }) => <Time at={created_at} /> },
  ]
  const adding = agent.may('change') && (
    <Button kind="primary" icon="plus" onClick={() => open(true)}>
      {t.add}
    </Button>
  )
  return (
    <div className="page">
      <Heading detail={rows.total !== undefined && t.count(rows.total)}>{rows.total !== 0 && adding}</Heading>
      <List
        {...rows}
        label={t.servers}
        columns={columns}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `${agent.home}/mcp/${path`${id}`}`}
        empty={
          <Empty title={t.none} text={t.noneText}>
            {adding}
          </Empty>
        }
      />
      {add !== undefined && agent.may('change') && <NewServerForm onClose={() => open(false)} />}
    </div>
  )
}

function NewServerForm({ onClose }: { onClose(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const register = useChange(registerServer(agent), { changes: [serversPath(agent)] })
  const schema = {
    required: ['name', 'url'],
    properties: {
      name: { title: t.name, description: t.nameHint, type: 'string', maxLength: 100 },
      url: { title: t.url, description: t.urlHint, type: 'string', examples: ['https://example.com/mcp'] },
      auth: {
        title: t.token,
        type: 'object',
        properties: { token: { title: t.token, description: t.tokenHint, type: 'string', writeOnly: true } },
      },
    },
  }
  const bodyOf = ({ auth, ...rest }: Values) =>
    ({ ...rest, ...(auth !== undefined && { auth: { type: 'bearer', ...auth } }) }) as NewServer
  return (
    <Dialog title={t.add} onClose={onClose}>
      <SchemaForm
        schema={schema}
        submit={t.add}
        request={values => registerServer(agent)(bodyOf(values))}
        onCancel={onClose}
        onSubmit={async values => {
          const { id, name } = await register.mutateAsync(bodyOf(values))
          toast(t.registered(name))
          await navigate({ to: `${agent.home}/mcp/${path`${id}`}` })
        }}
      />
    </Dialog>
  )
}
