import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { agentsQuery } from '#console/api/caller.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { LinkButton } from '#console/ui/button.tsx'
import { Combobox } from '#console/ui/combobox.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { useAgent } from './agent.tsx'

/** Shows the current agent, and links to the others. */
export function AgentSwitch() {
  const t = useText(frameText)
  const agent = useAgent()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="agent-switch" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Initial name={agent.name} />
        <span className="names">
          <b>{agent.name}</b>
          <small>{t.status[agent.status]}</small>
        </span>
        <Icon name="updown" />
        <span className="sr">{t.switchAgent}</span>
      </button>
      {isOpen && <Switch onClose={() => setOpen(false)} />}
    </>
  )
}

function Switch({ onClose }: { onClose(): void }) {
  const t = useText(frameText)
  const agent = useAgent()
  const navigate = useNavigate()
  const agents = useQuery(agentsQuery).data?.agents ?? []
  const options = agents.map(({ id, name, status, description }) => ({
    id,
    label: name,
    keywords: description,
    row: (
      <>
        <Initial name={name} />
        <span className="names">
          <b>{name}</b>
          <small>{status === 'active' ? description : t.status[status]}</small>
        </span>
      </>
    ),
  }))
  return (
    <Dialog
      title={t.agents}
      onClose={onClose}
      actions={<LinkButton to={`${agent.home}/agents`}>{t.allAgents}</LinkButton>}
    >
      <Combobox
        label={t.findAgent}
        placeholder={t.findAgent}
        options={options}
        onChoose={({ id }) => {
          onClose()
          void navigate({ to: `/a/${encodeURIComponent(id)}` })
        }}
      />
    </Dialog>
  )
}

function Initial({ name }: { name: string }) {
  return (
    <span className="initial" aria-hidden="true">
      {name.slice(0, 1).toUpperCase()}
    </span>
  )
}
