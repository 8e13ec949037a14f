import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { patchRows, type Rows, useChange } from '#console/api/query.ts'
import { path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { CheckField } from '#console/ui/field.tsx'
import { type Column, List } from '#console/ui/list.tsx'
import { Status } from '#console/ui/status.tsx'
import { toastError } from '#console/ui/toast.tsx'
import { type AgentTool, changeTool, toolsPath } from './requests.ts'
import { text } from './text.ts'
import './tools.css'

const maxShown = 200

interface ToolListProps {
  rows: Rows<AgentTool>
  empty: ReactNode
  /** True if tools of several clusters are listed. */
  hasClusters?: boolean
}

export function ToolList({ rows, empty, hasClusters = true }: ToolListProps) {
  const t = useText(text)
  const agent = useAgent()
  const all: (Column<AgentTool> | false)[] = [
    { title: t.name, cell: ({ name }) => <b>{name}</b> },
    { title: t.type, cell: ({ type }) => t.kinds[type] },
    {
      title: t.description,
      cell: ({ description }) => <span className="hint-text">{description.slice(0, maxShown)}</span>,
    },
    hasClusters && {
      title: t.cluster,
      cell: ({ cluster }) =>
        cluster !== undefined && (
          <Link to={`${agent.home}/tools/cluster/${path`${cluster}`}`}>{cluster.slice(0, maxShown)}</Link>
        ),
    },
    {
      title: t.approval,
      cell: ({ requiresApproval }) =>
        requiresApproval !== false && <Status tone="info">{t.asks[String(requiresApproval)]}</Status>,
    },
    { title: t.enabled, isAtEnd: true, cell: tool => <Enabled tool={tool} /> },
  ]
  const columns = all.filter(column => column !== false)
  return (
    <List
      {...rows}
      label={t.tools}
      columns={columns}
      keyOf={({ id }) => id}
      linkOf={({ id }) => `${agent.home}/tools/${path`${id}`}`}
      empty={empty}
    />
  )
}

/** The switch that offers the tool to models; it takes effect at once. */
export function Enabled({ tool, isLabelled = false }: { tool: AgentTool; isLabelled?: boolean }) {
  const t = useText(text)
  const agent = useAgent()
  const lists = toolsPath(agent)
  const change = useChange(changeTool(agent), { changes: [lists] })
  const { id, name, isEnabled } = tool
  if (!agent.may('change'))
    return <Status tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? t.on : t.off}</Status>

  function toggle(next: boolean) {
    const undo = patchRows<AgentTool>(lists, 'data', rows =>
      rows.map(row => (row.id === id ? { ...row, isEnabled: next } : row)),
    )
    change.mutateAsync({ id, isEnabled: next }).catch(error => {
      undo()
      toastError(error)
    })
  }

  return (
    <CheckField
      isSwitch
      isLabelHidden={!isLabelled}
      label={isLabelled ? t.enabled : t.enable(name)}
      value={change.isPending ? (change.variables.isEnabled ?? isEnabled) : isEnabled}
      onChange={toggle}
    />
  )
}
