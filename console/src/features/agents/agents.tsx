import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type AgentRow, callerQuery } from '#console/api/caller.ts'
import { listQuery, patchRows, queryClient, useChange, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useMay } from '#console/shell/agent.tsx'
import type { ViewProps } from '#console/shell/view.ts'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { type Column, List } from '#console/ui/list.tsx'
import { Menu } from '#console/ui/menu.tsx'
import { Status } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { AgentForm } from './agent-form.tsx'
import type { agentsSearch } from './feature.ts'
import { agentLists, agentsPath, changeAgent, deleteAgent, listAgents } from './requests.ts'
import { text } from './text.ts'

export const prefetch = () => queryClient.prefetchInfiniteQuery(listQuery<AgentRow>(listAgents(), 'agents'))

const tones = { active: 'good', paused: 'warn', disabled: 'plain' } as const

/** All agents of the caller, with the buttons that create, rename, pause and delete them. */
export default function Agents({ search: { create } }: ViewProps<never, typeof agentsSearch>) {
  const t = useText(text)
  const navigate = useNavigate()
  const [edited, setEdited] = useState<AgentRow>()
  const may = useMay()
  const hasUser = useQuery(callerQuery).data?.user != null
  const rows = useRows<AgentRow>(listAgents(), 'agents')
  const createNew = (isOpen: boolean) => void navigate({ to: '.', search: isOpen ? { create: 1 } : {} })

  const columns: Column<AgentRow>[] = [
    { title: t.name, cell: ({ name }) => <b>{name}</b> },
    { title: t.description, cell: ({ description }) => description },
    { title: t.owner, cell: ({ owner_email }) => owner_email },
    { title: t.status, cell: ({ status }) => <Status tone={tones[status]}>{t.states[status]}</Status> },
    { title: t.changed, cell: ({ updated_at }) => <Time at={updated_at} /> },
    {
      title: t.actions,
      isTitleHidden: true,
      isAtEnd: true,
      cell: agent =>
        agent.id !== 'default' &&
        may(agent.id, 'change') && <Actions agent={agent} onEdit={() => setEdited(agent)} />,
    },
  ]

  return (
    <div className="page">
      <Heading detail={rows.total !== undefined && t.count(rows.total)}>
        {hasUser ? (
          <Button kind="primary" icon="plus" onClick={() => createNew(true)}>
            {t.create}
          </Button>
        ) : (
          <span className="hint">{t.needsUser}</span>
        )}
      </Heading>
      <List
        {...rows}
        label={t.agents}
        columns={columns}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/a/${encodeURIComponent(id)}/home`}
        empty={<Empty title={t.none} text={t.noneText} />}
      />
      {create !== undefined && hasUser && <AgentForm onClose={() => createNew(false)} />}
      {edited && <AgentForm agent={edited} onClose={() => setEdited(undefined)} />}
    </div>
  )
}

function Actions({ agent, onEdit }: { agent: AgentRow; onEdit(): void }) {
  const t = useText(text)
  const { name, id, status } = agent
  const may = useMay()
  const change = useChange(changeAgent, { changes: agentLists })
  const removal = useChange(deleteAgent, { changes: agentLists, onDone: () => toast(t.removed(name)) })
  const isActive = status === 'active'

  /** Shows the new state at once, and reverts it if the server refuses. */
  function toggle() {
    const next = isActive ? ('paused' as const) : ('active' as const)
    const undo = patchRows<AgentRow>(agentsPath, 'agents', rows =>
      rows.map(row => (row.id === id ? { ...row, status: next } : row)),
    )
    change
      .mutateAsync({ id, status: next })
      .then(() => toast(isActive ? t.isPaused(name) : t.isActive(name)))
      .catch(error => {
        undo()
        toastError(error)
      })
  }

  async function remove() {
    const question = { title: t.removeTitle(name), text: t.removeText, action: t.remove, typed: name }
    if (await confirm({ ...question, isDangerous: true })) removal.mutate(id, { onError: toastError })
  }

  return (
    <Menu
      button={{ kind: 'quiet', icon: 'more', label: t.actionsOf(name) }}
      items={[
        { label: t.edit, icon: 'edit', run: onEdit },
        { label: isActive ? t.pause : t.resume, icon: isActive ? 'pause' : 'play', run: toggle },
        may(id, 'own') && { label: t.remove, icon: 'trash', isDangerous: true, run: () => void remove() },
      ]}
    />
  )
}
