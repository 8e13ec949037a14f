import { useNavigate } from '@tanstack/react-router'
import { path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { ViewProps } from '#console/shell/view.ts'
import { Segments } from '#console/ui/tabs.tsx'
import { toast } from '#console/ui/toast.tsx'
import { kinds, type newToolSearch } from './feature.ts'
import { text } from './text.ts'
import { NewToolForm } from './tool-form.tsx'
import './tools.css'

/** A form that adds a tool; a link can preset its kind and the tool of a server. */
export default function NewTool({ search }: ViewProps<never, typeof newToolSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { type = 'http', server, tool } = search
  const initialName = type === 'mcp' && tool !== undefined ? { name: tool } : {}
  return (
    <div className="page">
      <Segments
        label={t.kind}
        chosen={type}
        segments={kinds.map(name => ({ name, title: t.kinds[name] }))}
        onChoose={name => void navigate({ to: '.', search: { type: name }, replace: true })}
      />
      <p className="lead">{t.kindTexts[type]}</p>
      <NewToolForm
        key={type}
        type={type}
        initial={{
          ...initialName,
          configuration: type === 'mcp' ? { serverId: server, toolName: tool } : {},
        }}
        onDone={({ id, name }) => {
          toast(t.created(name))
          void navigate({ to: `${agent.home}/tools/${path`${id}`}` })
        }}
      />
    </div>
  )
}
