import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { agentsQuery, callerQuery, ownAgentsQuery } from '#console/api/caller.ts'
import { followChanges } from '#console/api/changes.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { ConfirmHost } from '#console/ui/confirm.tsx'
import { ToastHost } from '#console/ui/toast.tsx'
import { AgentContext, agentOf } from './agent.tsx'
import { Banners } from './banners.tsx'
import { Bar } from './bar.tsx'
import { Commands } from './commands.tsx'
import { Foot } from './foot.tsx'
import { NoAgent } from './problems.tsx'
import { Drawer, Rail } from './rail.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { useShortcuts } from './use-shortcuts.ts'
import './frame.css'

/** The overlay that is open above the views. */
export type Overlay = 'commands' | 'shortcuts' | 'rail' | undefined

/** Rail, bar, view and foot: the frame that stays while the views of an agent change. */
export function AgentFrame() {
  const { agent: id } = useParams({ from: '/a/$agent' })
  const caller = useQuery(callerQuery).data
  const agents = useQuery(agentsQuery).data?.agents
  const own = useQuery(ownAgentsQuery).data?.agents
  const agent = useMemo(() => agentOf(id, { caller, agents, own }), [id, caller, agents, own])
  useEffect(() => followChanges(id), [id])
  if (agent === undefined) return <NoAgent />
  return (
    <AgentContext value={agent}>
      <Frame />
    </AgentContext>
  )
}

function Frame() {
  const t = useText(frameText)
  const [overlay, setOverlay] = useState<Overlay>()
  const close = () => setOverlay(undefined)
  useShortcuts(setOverlay)
  return (
    <div className="frame">
      <a className="skip" href="#main">
        {t.skip}
      </a>
      <Rail />
      <Bar onOpen={setOverlay} />
      <main id="main" tabIndex={-1}>
        <Banners />
        <Outlet />
      </main>
      <Foot />
      {overlay === 'commands' && <Commands onClose={close} onOpen={setOverlay} />}
      {overlay === 'shortcuts' && <Shortcuts onClose={close} />}
      {overlay === 'rail' && <Drawer onClose={close} />}
      <ConfirmHost />
      <ToastHost />
    </div>
  )
}
