import { useChange } from '#console/api/query.ts'
import type { ApiRequest } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { Dialog } from '#console/ui/dialog.tsx'
import { changedValues, type Values } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { toast } from '#console/ui/toast.tsx'
import { budgetFields, text } from './text.ts'

interface BudgetFormProps {
  title: string
  /** The person or key with the current budget. */
  values: { monthly_tokens?: number | null; monthly_usd?: string | null }
  requestOf(changes: Values): ApiRequest
  /** The path of the list of people or keys. */
  list: string
  onClose(): void
}

/** A form for the monthly budget of a person or a key on models; an empty field sets no limit. */
export function BudgetForm({ title, values, requestOf, list, onClose }: BudgetFormProps) {
  const t = useText(text)
  const save = useChange(requestOf, { changes: [list], onDone: () => toast(t.budgetSaved) })
  const schema = { properties: budgetFields(t) }
  const changesIn = (now: Values) => changedValues(schema, { ...values }, now)
  return (
    <Dialog title={title} onClose={onClose}>
      <SchemaForm
        schema={schema}
        initial={{ ...values }}
        submit={t.save}
        request={now => requestOf(changesIn(now))}
        onCancel={onClose}
        onSubmit={async now => {
          const changes = changesIn(now)
          if (Object.keys(changes).length > 0) await save.mutateAsync(changes)
          onClose()
        }}
      />
    </Dialog>
  )
}
