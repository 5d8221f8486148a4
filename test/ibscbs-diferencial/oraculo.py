"""The IBS and the CBS of operations that come as JSON, one a line, by Python's decimal: an oracle that has nothing of the service.

Of 2026: rates are exact, each tribute goes half up to the cent, and the total is of cents. From 2027 on: eight decimals after each step,
half even, and only what is written goes to the cent. Rates and percentages are text; the answer of an operation is a line of texts.
"""

import json
import sys
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, getcontext

getcontext().prec = 60
CENT = Decimal("0.01")
EIGHT = Decimal("0.00000001")
HUNDRED = Decimal(100)


def assess(one):
    base = Decimal(one["base"])
    late = one["ano"] >= 2027
    way = ROUND_HALF_EVEN if late else ROUND_HALF_UP
    rates, taxes = [], []
    for tributo in ("uf", "mun", "cbs"):
        reduction = Decimal(one["redCbs" if tributo == "cbs" else "redIbs"])
        rate = Decimal(one[tributo]) / HUNDRED * (1 - reduction / HUNDRED) * (1 - Decimal(one["redutor"]) / HUNDRED)
        rate = rate.quantize(EIGHT, way) if late else rate
        tax = (base * rate).quantize(EIGHT if late else CENT, way)
        rates.append(rate)
        taxes.append(tax)
    own = list(taxes)
    share = Decimal(one["transferencia"]) / HUNDRED
    buyer = {"1": 2, "2": 0, "3": 0, "4": 1}.get(one.get("ente")) if late else None
    for values in (rates, taxes):
        if buyer is None:
            continue
        uf, mun, cbs = values
        values[:] = [Decimal(0), Decimal(0), Decimal(0)]
        if buyer == 2:
            values[2] = uf + mun + cbs
        else:
            values[buyer] = uf + mun + cbs * share
            values[2] = cbs - cbs * share
    written = [(value * HUNDRED).quantize(CENT, way) for value in rates]
    written += [value.quantize(CENT, way) for value in (*taxes, taxes[0] + taxes[1], *own)]
    return " ".join(format(abs(value) if value == 0 else value, "f") for value in written)


for line in sys.stdin:
    print(assess(json.loads(line)))
