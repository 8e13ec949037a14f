/** Single values by name, such as the check value of the encryption key. */
export interface FactsTable {
  name: string
  value: string
}
