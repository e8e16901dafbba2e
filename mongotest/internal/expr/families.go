package expr

// init joins the families, which need the table's type; nothing needs them by name.
func init() {
	for _, family := range [][]operator{
		variableOperators, booleanOperators, comparisonOperators, conditionalOperators,
		arithmeticOperators, transcendentalOperators, trigonometryOperators, bitOperators,
		arrayOperators, setOperators, objectOperators, someOperators, accumulatorOperators,
		stringOperators, regexOperators, typeOperators, convertOperators,
		dateOperators, datePartsOperators, dateTextOperators, dateArithmeticOperators, scriptOperators, metaOperators,
	} {
		for _, op := range family {
			if op.parse == nil {
				op.parse = positional
			}
			operators[op.name] = &op
		}
	}
}
