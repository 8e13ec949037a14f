import { useQuery } from '@tanstack/react-query'
import { query, useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { CheckField } from '#console/ui/field.tsx'
import { List } from '#console/ui/list.tsx'
import { Status } from '#console/ui/status.tsx'
import { toastError } from '#console/ui/toast.tsx'
import { type BuiltInRules, changeBuiltIns, getSettings, type ListedTool, listBuiltIns } from './requests.ts'
import { text } from './text.ts'

/** The tools of the service, which are switched and marked by a setting of the agent. */
export function BuiltIns() {
  const t = useText(text)
  const agent = useAgent()
  const { data, error } = useQuery(query(listBuiltIns(agent)))
  const { data: answer } = useQuery(query(getSettings(agent)))
  const { mutate, isPending } = useChange(changeBuiltIns(agent), { changes: [agent.api] })
  const isEditable = agent.may('change') && answer !== undefined
  const rows = data?.data.filter(({ type }) => type === 'builtin')

  function change(name: string, rule: NonNullable<BuiltInRules[string]>) {
    const rules = answer?.settings.builtin_tools ?? {}
    mutate({ ...rules, [name]: { ...rules[name], ...rule } }, { onError: toastError })
  }

  const approval = ({ name, requiresApproval }: ListedTool) =>
    isEditable ? (
      <select
        className="input"
        aria-label={t.approvalOf(name)}
        disabled={isPending}
        value={String(requiresApproval)}
        onChange={({ target }) => change(name, { requires_approval: ruleOf(target.value) })}
      >
        {approvals.map((rule, at) => (
          <option key={rule} value={rule}>
            {t.fields.approvals[at]}
          </option>
        ))}
      </select>
    ) : (
      requiresApproval !== false && <Status tone="info">{t.asks[String(requiresApproval)]}</Status>
    )
  const enabled = ({ name, isEnabled }: ListedTool) =>
    isEditable ? (
      <CheckField
        isSwitch
        isLabelHidden
        isDisabled={isPending}
        label={t.enable(name)}
        value={isEnabled}
        onChange={next => change(name, { enabled: next })}
      />
    ) : (
      <Status tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? t.on : t.off}</Status>
    )
  return (
    <section aria-label={t.builtIns}>
      <h2>{t.builtIns}</h2>
      <p className="hint">{t.builtInsText}</p>
      <List
        rows={rows}
        error={error}
        total={undefined}
        loadMore={undefined}
        label={t.builtIns}
        keyOf={({ id }) => id}
        empty={null}
        columns={[
          { title: t.name, cell: ({ name }) => <b>{name}</b> },
          { title: t.description, cell: tool => <span className="hint-text">{tool.description}</span> },
          { title: t.approval, cell: approval },
          { title: t.enabled, isAtEnd: true, cell: enabled },
        ]}
      />
    </section>
  )
}

const approvals = ['false', 'true', 'always'] as const
const ruleOf = (value: string) => (value === 'always' ? value : value === 'true')
