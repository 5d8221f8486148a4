/**
 * IBS and CBS in the test year: 0.10 % for the state, 0.00 % for the municipality, 0.90 % of CBS; each kind of reduction of
 * the classification table; what leaves the base and what does not; half a cent.
 *
 * Each line of `conta` is one field of the note and how it comes about; `x` multiplies, `≈` is the one rounding, half up to
 * the cent. Worked out with Python's decimal from the formulas of the reference; `test/casos.test.ts` does every line again.
 */
import { type Caso, DOCUMENTO_TERCEIRO } from './caso.ts';

export const CASOS: readonly Caso[] = [
  {
    nome: 'full taxation',
    fonte: 'nfse-layout 7.1 to 7.3',
    dps: {},
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 980.00 x 0.10 % = 0.98
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.90 % = 8.82
      vIBSTot      = 0.98 + 0.00 = 0.98
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '200052: reduction of 30 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200052',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200052' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pRedAliqUF   = 30.00
      pAliqEfetUF  = 0.10 x (1 - 30.00 %) = 0.07
      pIBSMun      = 0.00
      pRedAliqMun  = 30.00
      pAliqEfetMun = 0.00 x (1 - 30.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 30.00
      pAliqEfetCBS = 0.90 x (1 - 30.00 %) = 0.63
      vIBSUF       = 980.00 x 0.07 % = 0.686 ≈ 0.69
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.63 % = 6.174 ≈ 6.17
      vIBSTot      = 0.69 + 0.00 = 0.69
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '200056: reduction of 30 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200056',
    dps: {
      'valores/vServPrest/vServ': '850.40',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200056',
    },
    conta: `
      vBC          = 850.40
      pAliqAplic   = 2.00
      vISSQN       = 850.40 x 2.00 % = 17.008 ≈ 17.01
      vTotalRet    = 0.00
      vLiq         = 850.40
      IBSCBS/vBC   = 850.40 - 17.01 = 833.39
      pIBSUF       = 0.10
      pRedAliqUF   = 30.00
      pAliqEfetUF  = 0.10 x (1 - 30.00 %) = 0.07
      pIBSMun      = 0.00
      pRedAliqMun  = 30.00
      pAliqEfetMun = 0.00 x (1 - 30.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 30.00
      pAliqEfetCBS = 0.90 x (1 - 30.00 %) = 0.63
      vIBSUF       = 833.39 x 0.07 % = 0.583373 ≈ 0.58
      vIBSMun      = 833.39 x 0.00 % = 0.00
      vCBS         = 833.39 x 0.63 % = 5.250357 ≈ 5.25
      vIBSTot      = 0.58 + 0.00 = 0.58
      vTotNF       = 850.40
    `,
  },
  {
    nome: '200048: reduction of 40 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200048',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200048' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pRedAliqUF   = 40.00
      pAliqEfetUF  = 0.10 x (1 - 40.00 %) = 0.06
      pIBSMun      = 0.00
      pRedAliqMun  = 40.00
      pAliqEfetMun = 0.00 x (1 - 40.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 40.00
      pAliqEfetCBS = 0.90 x (1 - 40.00 %) = 0.54
      vIBSUF       = 980.00 x 0.06 % = 0.588 ≈ 0.59
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.54 % = 5.292 ≈ 5.29
      vIBSTot      = 0.59 + 0.00 = 0.59
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '200051: reduction of 40 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200051',
    dps: {
      'valores/vServPrest/vServ': '12345.67',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200051',
    },
    conta: `
      vBC          = 12345.67
      pAliqAplic   = 2.00
      vISSQN       = 12345.67 x 2.00 % = 246.9134 ≈ 246.91
      vTotalRet    = 0.00
      vLiq         = 12345.67
      IBSCBS/vBC   = 12345.67 - 246.91 = 12098.76
      pIBSUF       = 0.10
      pRedAliqUF   = 40.00
      pAliqEfetUF  = 0.10 x (1 - 40.00 %) = 0.06
      pIBSMun      = 0.00
      pRedAliqMun  = 40.00
      pAliqEfetMun = 0.00 x (1 - 40.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 40.00
      pAliqEfetCBS = 0.90 x (1 - 40.00 %) = 0.54
      vIBSUF       = 12098.76 x 0.06 % = 7.259256 ≈ 7.26
      vIBSMun      = 12098.76 x 0.00 % = 0.00
      vCBS         = 12098.76 x 0.54 % = 65.333304 ≈ 65.33
      vIBSTot      = 7.26 + 0.00 = 7.26
      vTotNF       = 12345.67
    `,
  },
  {
    nome: '200046: reduction of 50 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200046',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200046' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pRedAliqUF   = 50.00
      pAliqEfetUF  = 0.10 x (1 - 50.00 %) = 0.05
      pIBSMun      = 0.00
      pRedAliqMun  = 50.00
      pAliqEfetMun = 0.00 x (1 - 50.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 50.00
      pAliqEfetCBS = 0.90 x (1 - 50.00 %) = 0.45
      vIBSUF       = 980.00 x 0.05 % = 0.49
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.45 % = 4.41
      vIBSTot      = 0.49 + 0.00 = 0.49
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '200028: reduction of 60 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200028',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200028' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pRedAliqUF   = 60.00
      pAliqEfetUF  = 0.10 x (1 - 60.00 %) = 0.04
      pIBSMun      = 0.00
      pRedAliqMun  = 60.00
      pAliqEfetMun = 0.00 x (1 - 60.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 60.00
      pAliqEfetCBS = 0.90 x (1 - 60.00 %) = 0.36
      vIBSUF       = 980.00 x 0.04 % = 0.392 ≈ 0.39
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.36 % = 3.528 ≈ 3.53
      vIBSTot      = 0.39 + 0.00 = 0.39
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '200029: reduction of 60 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200029',
    dps: {
      'valores/vServPrest/vServ': '333.33',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200029',
    },
    conta: `
      vBC          = 333.33
      pAliqAplic   = 2.00
      vISSQN       = 333.33 x 2.00 % = 6.6666 ≈ 6.67
      vTotalRet    = 0.00
      vLiq         = 333.33
      IBSCBS/vBC   = 333.33 - 6.67 = 326.66
      pIBSUF       = 0.10
      pRedAliqUF   = 60.00
      pAliqEfetUF  = 0.10 x (1 - 60.00 %) = 0.04
      pIBSMun      = 0.00
      pRedAliqMun  = 60.00
      pAliqEfetMun = 0.00 x (1 - 60.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 60.00
      pAliqEfetCBS = 0.90 x (1 - 60.00 %) = 0.36
      vIBSUF       = 326.66 x 0.04 % = 0.130664 ≈ 0.13
      vIBSMun      = 326.66 x 0.00 % = 0.00
      vCBS         = 326.66 x 0.36 % = 1.175976 ≈ 1.18
      vIBSTot      = 0.13 + 0.00 = 0.13
      vTotNF       = 333.33
    `,
  },
  {
    nome: '011003: reduction of 60 %, uniform rate of a sector',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 011003',
    dps: {
      'valores/vServPrest/vServ': '777.77',
      'IBSCBS/valores/trib/gIBSCBS/CST': '011',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '011003',
    },
    conta: `
      vBC          = 777.77
      pAliqAplic   = 2.00
      vISSQN       = 777.77 x 2.00 % = 15.5554 ≈ 15.56
      vTotalRet    = 0.00
      vLiq         = 777.77
      IBSCBS/vBC   = 777.77 - 15.56 = 762.21
      pIBSUF       = 0.10
      pRedAliqUF   = 60.00
      pAliqEfetUF  = 0.10 x (1 - 60.00 %) = 0.04
      pIBSMun      = 0.00
      pRedAliqMun  = 60.00
      pAliqEfetMun = 0.00 x (1 - 60.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 60.00
      pAliqEfetCBS = 0.90 x (1 - 60.00 %) = 0.36
      vIBSUF       = 762.21 x 0.04 % = 0.304884 ≈ 0.30
      vIBSMun      = 762.21 x 0.00 % = 0.00
      vCBS         = 762.21 x 0.36 % = 2.743956 ≈ 2.74
      vIBSTot      = 0.30 + 0.00 = 0.30
      vTotNF       = 777.77
    `,
  },
  {
    nome: '200055: reduction of 60 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200055',
    dps: {
      'valores/vServPrest/vServ': '64.10',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200055',
    },
    conta: `
      vBC          = 64.10
      pAliqAplic   = 2.00
      vISSQN       = 64.10 x 2.00 % = 1.282 ≈ 1.28
      vTotalRet    = 0.00
      vLiq         = 64.10
      IBSCBS/vBC   = 64.10 - 1.28 = 62.82
      pIBSUF       = 0.10
      pRedAliqUF   = 60.00
      pAliqEfetUF  = 0.10 x (1 - 60.00 %) = 0.04
      pIBSMun      = 0.00
      pRedAliqMun  = 60.00
      pAliqEfetMun = 0.00 x (1 - 60.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 60.00
      pAliqEfetCBS = 0.90 x (1 - 60.00 %) = 0.36
      vIBSUF       = 62.82 x 0.04 % = 0.025128 ≈ 0.03
      vIBSMun      = 62.82 x 0.00 % = 0.00
      vCBS         = 62.82 x 0.36 % = 0.226152 ≈ 0.23
      vIBSTot      = 0.03 + 0.00 = 0.03
      vTotNF       = 64.10
    `,
  },
  {
    nome: '200027: reduction of 70 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200027',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200027' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pRedAliqUF   = 70.00
      pAliqEfetUF  = 0.10 x (1 - 70.00 %) = 0.03
      pIBSMun      = 0.00
      pRedAliqMun  = 70.00
      pAliqEfetMun = 0.00 x (1 - 70.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 70.00
      pAliqEfetCBS = 0.90 x (1 - 70.00 %) = 0.27
      vIBSUF       = 980.00 x 0.03 % = 0.294 ≈ 0.29
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.27 % = 2.646 ≈ 2.65
      vIBSTot      = 0.29 + 0.00 = 0.29
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '200026: reduction of 80 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200026',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200026' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pRedAliqUF   = 80.00
      pAliqEfetUF  = 0.10 x (1 - 80.00 %) = 0.02
      pIBSMun      = 0.00
      pRedAliqMun  = 80.00
      pAliqEfetMun = 0.00 x (1 - 80.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 80.00
      pAliqEfetCBS = 0.90 x (1 - 80.00 %) = 0.18
      vIBSUF       = 980.00 x 0.02 % = 0.196 ≈ 0.20
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.18 % = 1.764 ≈ 1.76
      vIBSTot      = 0.20 + 0.00 = 0.20
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '200016: reduction of 100 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200016',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200016' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pRedAliqUF   = 100.00
      pAliqEfetUF  = 0.10 x (1 - 100.00 %) = 0.00
      pIBSMun      = 0.00
      pRedAliqMun  = 100.00
      pAliqEfetMun = 0.00 x (1 - 100.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 100.00
      pAliqEfetCBS = 0.90 x (1 - 100.00 %) = 0.00
      vIBSUF       = 980.00 x 0.00 % = 0.00
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '200021: reduction of 100 %',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200021',
    dps: {
      'valores/vServPrest/vServ': '4.35',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200021',
    },
    conta: `
      vBC          = 4.35
      pAliqAplic   = 2.00
      vISSQN       = 4.35 x 2.00 % = 0.087 ≈ 0.09
      vTotalRet    = 0.00
      vLiq         = 4.35
      IBSCBS/vBC   = 4.35 - 0.09 = 4.26
      pIBSUF       = 0.10
      pRedAliqUF   = 100.00
      pAliqEfetUF  = 0.10 x (1 - 100.00 %) = 0.00
      pIBSMun      = 0.00
      pRedAliqMun  = 100.00
      pAliqEfetMun = 0.00 x (1 - 100.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 100.00
      pAliqEfetCBS = 0.90 x (1 - 100.00 %) = 0.00
      vIBSUF       = 4.26 x 0.00 % = 0.00
      vIBSMun      = 4.26 x 0.00 % = 0.00
      vCBS         = 4.26 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 4.35
    `,
  },
  {
    nome: '200025: 60 % of the IBS and 100 % of the CBS',
    fonte: 'nfse-layout 7.1 to 7.3; dps-layout 9, 200025',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '200', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200025' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pRedAliqUF   = 60.00
      pAliqEfetUF  = 0.10 x (1 - 60.00 %) = 0.04
      pIBSMun      = 0.00
      pRedAliqMun  = 60.00
      pAliqEfetMun = 0.00 x (1 - 60.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 100.00
      pAliqEfetCBS = 0.90 x (1 - 100.00 %) = 0.00
      vIBSUF       = 980.00 x 0.04 % = 0.392 ≈ 0.39
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.00 % = 0.00
      vIBSTot      = 0.39 + 0.00 = 0.39
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '010002: the uniform rate of a sector is that of the test year',
    fonte: 'nfse-layout 7.1 to 7.3; specification, schedule rule 5',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '010', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '010002' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 980.00 x 0.10 % = 0.98
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.90 % = 8.82
      vIBSTot      = 0.98 + 0.00 = 0.98
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '221001: the own rates of the calculator, reckoned whole and printed with two decimals',
    fonte: 'law-2026-11 4 (calculator, V0018 and V0056); nfse-layout 7.1 to 7.3',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '221', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '221001' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.37
      pAliqEfetUF  = 0.37
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 3.29
      pAliqEfetCBS = 3.29
      vIBSUF       = 980.00 x 0.365 % = 3.577 ≈ 3.58
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 3.285 % = 32.193 ≈ 32.19
      vIBSTot      = 3.58 + 0.00 = 3.58
      vTotNF       = 1000.00
    `,
  },
  {
    nome: 'the worked example of the reference',
    fonte: 'nfse-layout 8',
    dps: {
      'valores/vDescCondIncond/vDescIncond': '50.00',
      'valores/vDescCondIncond/vDescCond': '20.00',
      'valores/vDedRed/vDR': '100.00',
      'valores/trib/tribMun/pAliq': '3.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'valores/trib/tribFed/vRetCSLL': '46.50',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200052',
      'serv/cServ/cTribNac': '171401',
    },
    conta: `
      vBC          = 1000.00 - 50.00 - 100.00 = 850.00
      pAliqAplic   = 3.00
      vISSQN       = 850.00 x 3.00 % = 25.50
      vTotalRet    = 15.00 + 46.50 + 25.50 = 87.00
      vLiq         = 1000.00 - 50.00 - 20.00 - 87.00 = 843.00
      IBSCBS/vBC   = 1000.00 - 50.00 - 25.50 - 6.50 - 30.00 = 888.00
      pIBSUF       = 0.10
      pRedAliqUF   = 30.00
      pAliqEfetUF  = 0.10 x (1 - 30.00 %) = 0.07
      pIBSMun      = 0.00
      pRedAliqMun  = 30.00
      pAliqEfetMun = 0.00 x (1 - 30.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 30.00
      pAliqEfetCBS = 0.90 x (1 - 30.00 %) = 0.63
      vIBSUF       = 888.00 x 0.07 % = 0.6216 ≈ 0.62
      vIBSMun      = 888.00 x 0.00 % = 0.00
      vCBS         = 888.00 x 0.63 % = 5.5944 ≈ 5.59
      vIBSTot      = 0.62 + 0.00 = 0.62
      vTotNF       = 843.00
    `,
  },
  {
    nome: 'a conditional discount leaves the base as it is',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/vDescCondIncond/vDescCond': '100.00' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00 - 100.00 = 900.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 980.00 x 0.10 % = 0.98
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.90 % = 8.82
      vIBSTot      = 0.98 + 0.00 = 0.98
      vTotNF       = 900.00
    `,
  },
  {
    nome: 'a deduction reduces the base of the ISSQN alone',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/vDedRed/pDR': '40.00', 'valores/trib/tribMun/pAliq': '5.00' },
    conta: `
      vCalcDR      = 40.00 % x 1000.00 = 400.00
      vBC          = 1000.00 - 400.00 = 600.00
      pAliqAplic   = 5.00
      vISSQN       = 600.00 x 5.00 % = 30.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 30.00 = 970.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 970.00 x 0.10 % = 0.97
      vIBSMun      = 970.00 x 0.00 % = 0.00
      vCBS         = 970.00 x 0.90 % = 8.73
      vIBSTot      = 0.97 + 0.00 = 0.97
      vTotNF       = 1000.00
    `,
  },
  {
    nome: 'a benefit reduces the base of the ISSQN alone',
    fonte: 'nfse-layout 7.1',
    dps: {
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/vRedBCBM': '300.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    conta: `
      vBC          = 1000.00 - 300.00 = 700.00
      pAliqAplic   = 5.00
      vISSQN       = 700.00 x 5.00 % = 35.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 35.00 = 965.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 965.00 x 0.10 % = 0.965 ≈ 0.97
      vIBSMun      = 965.00 x 0.00 % = 0.00
      vCBS         = 965.00 x 0.90 % = 8.685 ≈ 8.69
      vIBSTot      = 0.97 + 0.00 = 0.97
      vTotNF       = 1000.00
    `,
  },
  {
    nome: 'withheld ISSQN leaves the base like any other',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/trib/tribMun/pAliq': '5.00', 'valores/trib/tribMun/tpRetISSQN': '2' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 5.00
      vISSQN       = 1000.00 x 5.00 % = 50.00
      vTotalRet    = 50.00
      vLiq         = 1000.00 - 50.00 = 950.00
      IBSCBS/vBC   = 1000.00 - 50.00 = 950.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 950.00 x 0.10 % = 0.95
      vIBSMun      = 950.00 x 0.00 % = 0.00
      vCBS         = 950.00 x 0.90 % = 8.55
      vIBSTot      = 0.95 + 0.00 = 0.95
      vTotNF       = 950.00
    `,
  },
  {
    nome: 'own debits of PIS and COFINS leave the base',
    fonte: 'nfse-layout 7.1',
    dps: {
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '1.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '7.60',
      'valores/trib/tribFed/piscofins/vPis': '16.50',
      'valores/trib/tribFed/piscofins/vCofins': '76.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '0',
    },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 5.00
      vISSQN       = 1000.00 x 5.00 % = 50.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 50.00 - 16.50 - 76.00 = 857.50
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 857.50 x 0.10 % = 0.8575 ≈ 0.86
      vIBSMun      = 857.50 x 0.00 % = 0.00
      vCBS         = 857.50 x 0.90 % = 7.7175 ≈ 7.72
      vIBSTot      = 0.86 + 0.00 = 0.86
      vTotNF       = 1000.00
    `,
  },
  {
    nome: 'withheld contributions do not leave the base',
    fonte: 'nfse-layout 7.1',
    dps: {
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '8',
      'valores/trib/tribFed/vRetCSLL': '10.00',
    },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 5.00
      vISSQN       = 1000.00 x 5.00 % = 50.00
      vRetCSLL     = 1000.00 x 1.00 % = 10.00
      vTotalRet    = 10.00
      vLiq         = 1000.00 - 10.00 = 990.00
      IBSCBS/vBC   = 1000.00 - 50.00 = 950.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 950.00 x 0.10 % = 0.95
      vIBSMun      = 950.00 x 0.00 % = 0.00
      vCBS         = 950.00 x 0.90 % = 8.55
      vIBSTot      = 0.95 + 0.00 = 0.95
      vTotNF       = 990.00
    `,
  },
  {
    nome: 'amounts of third parties leave both bases',
    fonte: 'nfse-layout 5.2: vCalcReeRepRes; nfse-layout 7.1',
    dps: {
      ...DOCUMENTO_TERCEIRO,
      'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '120.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    mais: {
      'IBSCBS/valores/gReeRepRes/documentos': [{ 'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '80.50' }],
    },
    conta: `
      vCalcReeRepRes = 120.00 + 80.50 = 200.50
      vBC            = 1000.00 - 200.50 = 799.50
      pAliqAplic     = 5.00
      vISSQN         = 799.50 x 5.00 % = 39.975 ≈ 39.98
      vTotalRet      = 0.00
      vLiq           = 1000.00
      IBSCBS/vBC     = 1000.00 - 200.50 - 39.98 = 759.52
      pIBSUF         = 0.10
      pAliqEfetUF    = 0.10
      pIBSMun        = 0.00
      pAliqEfetMun   = 0.00
      pCBS           = 0.90
      pAliqEfetCBS   = 0.90
      vIBSUF         = 759.52 x 0.10 % = 0.75952 ≈ 0.76
      vIBSMun        = 759.52 x 0.00 % = 0.00
      vCBS           = 759.52 x 0.90 % = 6.83568 ≈ 6.84
      vIBSTot        = 0.76 + 0.00 = 0.76
      vTotNF         = 1000.00
    `,
  },
  {
    nome: 'one amount of a third party, with half a cent of ISSQN',
    fonte: 'nfse-layout 5.2: vCalcReeRepRes; nfse-layout 7.1',
    dps: {
      ...DOCUMENTO_TERCEIRO,
      'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '499.90',
      'valores/trib/tribMun/pAliq': '2.50',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200052',
    },
    conta: `
      vCalcReeRepRes = 499.90 = 499.90
      vBC            = 1000.00 - 499.90 = 500.10
      pAliqAplic     = 2.50
      vISSQN         = 500.10 x 2.50 % = 12.5025 ≈ 12.50
      vTotalRet      = 0.00
      vLiq           = 1000.00
      IBSCBS/vBC     = 1000.00 - 499.90 - 12.50 = 487.60
      pIBSUF         = 0.10
      pRedAliqUF     = 30.00
      pAliqEfetUF    = 0.10 x (1 - 30.00 %) = 0.07
      pIBSMun        = 0.00
      pRedAliqMun    = 30.00
      pAliqEfetMun   = 0.00 x (1 - 30.00 %) = 0.00
      pCBS           = 0.90
      pRedAliqCBS    = 30.00
      pAliqEfetCBS   = 0.90 x (1 - 30.00 %) = 0.63
      vIBSUF         = 487.60 x 0.07 % = 0.34132 ≈ 0.34
      vIBSMun        = 487.60 x 0.00 % = 0.00
      vCBS           = 487.60 x 0.63 % = 3.07188 ≈ 3.07
      vIBSTot        = 0.34 + 0.00 = 0.34
      vTotNF         = 1000.00
    `,
  },
  {
    nome: 'everything at once',
    fonte: 'nfse-layout 5.2; nfse-layout 7.1 to 7.3',
    dps: {
      ...DOCUMENTO_TERCEIRO,
      'valores/vServPrest/vServ': '20000.00',
      'valores/vDescCondIncond/vDescIncond': '1000.00',
      'valores/vDescCondIncond/vDescCond': '500.00',
      'valores/vDedRed/pDR': '10.00',
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/pRedBCBM': '5.00',
      'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '1500.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '20000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '130.00',
      'valores/trib/tribFed/piscofins/vCofins': '600.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
      'valores/trib/tribFed/vRetCP': '2200.00',
      'valores/trib/tribFed/vRetIRRF': '300.00',
      'valores/trib/tribFed/vRetCSLL': '930.00',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200029',
    },
    mais: {
      'IBSCBS/valores/gReeRepRes/documentos': [
        { 'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '345.67' },
        { 'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '0.33' },
      ],
    },
    conta: `
      vCalcDR        = 10.00 % x (20000.00 - 1000.00) = 1900.00
      vCalcBM        = 5.00 % x (20000.00 - 1000.00 - 1900.00) = 855.00
      vCalcReeRepRes = 1500.00 + 345.67 + 0.33 = 1846.00
      vBC            = 20000.00 - 1000.00 - 1900.00 - 855.00 - 1846.00 = 14399.00
      pAliqAplic     = 5.00
      vISSQN         = 14399.00 x 5.00 % = 719.95
      vTotalRet      = 2200.00 + 300.00 + 930.00 + 719.95 = 4149.95
      vLiq           = 20000.00 - 1000.00 - 500.00 - 4149.95 = 14350.05
      IBSCBS/vBC     = 20000.00 - 1000.00 - 1846.00 - 719.95 - 130.00 - 600.00 = 15704.05
      pIBSUF         = 0.10
      pRedAliqUF     = 60.00
      pAliqEfetUF    = 0.10 x (1 - 60.00 %) = 0.04
      pIBSMun        = 0.00
      pRedAliqMun    = 60.00
      pAliqEfetMun   = 0.00 x (1 - 60.00 %) = 0.00
      pCBS           = 0.90
      pRedAliqCBS    = 60.00
      pAliqEfetCBS   = 0.90 x (1 - 60.00 %) = 0.36
      vIBSUF         = 15704.05 x 0.04 % = 6.28162 ≈ 6.28
      vIBSMun        = 15704.05 x 0.00 % = 0.00
      vCBS           = 15704.05 x 0.36 % = 56.53458 ≈ 56.53
      vIBSTot        = 6.28 + 0.00 = 6.28
      vTotNF         = 14350.05
    `,
  },
  {
    nome: 'half a cent of both tributes',
    fonte: 'nfse-layout 7.5',
    dps: {
      'valores/vServPrest/vServ': '5.00',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/exigSusp/tpSusp': '1',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
    },
    conta: `
      vLiq         = 5.00
      IBSCBS/vBC   = 5.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 5.00 x 0.10 % = 0.005 ≈ 0.01
      vIBSMun      = 5.00 x 0.00 % = 0.00
      vCBS         = 5.00 x 0.90 % = 0.045 ≈ 0.05
      vIBSTot      = 0.01 + 0.00 = 0.01
      vTotNF       = 5.00
    `,
  },
  {
    nome: 'half a cent, to the even and to the odd one',
    fonte: 'nfse-layout 7.5',
    dps: {
      'valores/vServPrest/vServ': '15.00',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/exigSusp/tpSusp': '1',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
    },
    conta: `
      vLiq         = 15.00
      IBSCBS/vBC   = 15.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 15.00 x 0.10 % = 0.015 ≈ 0.02
      vIBSMun      = 15.00 x 0.00 % = 0.00
      vCBS         = 15.00 x 0.90 % = 0.135 ≈ 0.14
      vIBSTot      = 0.02 + 0.00 = 0.02
      vTotNF       = 15.00
    `,
  },
  {
    nome: 'half a cent, where the even one would go down',
    fonte: 'nfse-layout 7.5',
    dps: {
      'valores/vServPrest/vServ': '25.00',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/exigSusp/tpSusp': '1',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
    },
    conta: `
      vLiq         = 25.00
      IBSCBS/vBC   = 25.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 25.00 x 0.10 % = 0.025 ≈ 0.03
      vIBSMun      = 25.00 x 0.00 % = 0.00
      vCBS         = 25.00 x 0.90 % = 0.225 ≈ 0.23
      vIBSTot      = 0.03 + 0.00 = 0.03
      vTotNF       = 25.00
    `,
  },
  {
    nome: 'just below half a cent',
    fonte: 'nfse-layout 7.5',
    dps: {
      'valores/vServPrest/vServ': '4.99',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/exigSusp/tpSusp': '1',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
    },
    conta: `
      vLiq         = 4.99
      IBSCBS/vBC   = 4.99
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 4.99 x 0.10 % = 0.00499 ≈ 0.00
      vIBSMun      = 4.99 x 0.00 % = 0.00
      vCBS         = 4.99 x 0.90 % = 0.04491 ≈ 0.04
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 4.99
    `,
  },
  {
    nome: 'the smallest base',
    fonte: 'nfse-layout 7.5',
    dps: {
      'valores/vServPrest/vServ': '0.01',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/exigSusp/tpSusp': '1',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
    },
    conta: `
      vLiq         = 0.01
      IBSCBS/vBC   = 0.01
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 0.01 x 0.10 % = 0.00001 ≈ 0.00
      vIBSMun      = 0.01 x 0.00 % = 0.00
      vCBS         = 0.01 x 0.90 % = 0.00009 ≈ 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 0.01
    `,
  },
  {
    nome: 'the largest base',
    fonte: 'dps-layout 3: TSDec15V2',
    dps: {
      'valores/vServPrest/vServ': '999999999999999.99',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/exigSusp/tpSusp': '1',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
    },
    conta: `
      vLiq         = 999999999999999.99
      IBSCBS/vBC   = 999999999999999.99
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 999999999999999.99 x 0.10 % = 999999999999.99999 ≈ 1000000000000.00
      vIBSMun      = 999999999999999.99 x 0.00 % = 0.00
      vCBS         = 999999999999999.99 x 0.90 % = 8999999999999.99991 ≈ 9000000000000.00
      vIBSTot      = 1000000000000.00 + 0.00 = 1000000000000.00
      vTotNF       = 999999999999999.99
    `,
  },
];
