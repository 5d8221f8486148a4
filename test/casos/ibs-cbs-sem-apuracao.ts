/**
 * IBS and CBS where nothing is due, or not now: exemption and the like, deferral, suspension with the regular taxation,
 * government purchases; and notes that need no group.
 *
 * Each line of `conta` is one field of the note and how it comes about; `x` multiplies, `≈` is the one rounding, half up to
 * the cent. Worked out with Python's decimal from the formulas of the reference; `test/casos.test.ts` does every line again.
 */
import { type Caso, SEM_GRUPO, TOMADOR_EXTERIOR } from './caso.ts';

export const CASOS: readonly Caso[] = [
  {
    nome: '400001: exemption',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '400', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '400001' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.00
      pAliqEfetUF  = 0.00
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.00
      pAliqEfetCBS = 0.00
      vIBSUF       = 980.00 x 0.00 % = 0.00
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '410999: operation without price',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: {
      'valores/vServPrest/vServ': '150.00',
      'valores/vDescCondIncond/vDescIncond': '50.00',
      'IBSCBS/valores/trib/gIBSCBS/CST': '410',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '410999',
    },
    conta: `
      vBC          = 150.00 - 50.00 = 100.00
      pAliqAplic   = 2.00
      vISSQN       = 100.00 x 2.00 % = 2.00
      vTotalRet    = 0.00
      vLiq         = 150.00 - 50.00 = 100.00
      IBSCBS/vBC   = 150.00 - 50.00 - 2.00 = 98.00
      pIBSUF       = 0.00
      pAliqEfetUF  = 0.00
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.00
      pAliqEfetCBS = 0.00
      vIBSUF       = 98.00 x 0.00 % = 0.00
      vIBSMun      = 98.00 x 0.00 % = 0.00
      vCBS         = 98.00 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 100.00
    `,
  },
  {
    nome: '410007: immune provider',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: {
      'valores/trib/tribMun/pAliq': null,
      'IBSCBS/valores/trib/gIBSCBS/CST': '410',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '410007',
      'valores/trib/tribMun/tribISSQN': '2',
      'valores/trib/tribMun/tpImunidade': '3',
    },
    conta: `
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00
      pIBSUF       = 0.00
      pAliqEfetUF  = 0.00
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.00
      pAliqEfetCBS = 0.00
      vIBSUF       = 1000.00 x 0.00 % = 0.00
      vIBSMun      = 1000.00 x 0.00 % = 0.00
      vCBS         = 1000.00 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '410004: export',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: {
      ...TOMADOR_EXTERIOR,
      'valores/vServPrest/vServ': '7500.50',
      'valores/trib/tribMun/pAliq': null,
      'IBSCBS/valores/trib/gIBSCBS/CST': '410',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '410004',
      'valores/trib/tribMun/tribISSQN': '3',
      'valores/trib/tribMun/cPaisResult': 'US',
      'IBSCBS/cIndOp': '100302',
    },
    conta: `
      vLiq         = 7500.50
      IBSCBS/vBC   = 7500.50
      pIBSUF       = 0.00
      pAliqEfetUF  = 0.00
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.00
      pAliqEfetCBS = 0.00
      vIBSUF       = 7500.50 x 0.00 % = 0.00
      vIBSMun      = 7500.50 x 0.00 % = 0.00
      vCBS         = 7500.50 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 7500.50
    `,
  },
  {
    nome: '800001: merger',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '800', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '800001' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.00
      pAliqEfetUF  = 0.00
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.00
      pAliqEfetCBS = 0.00
      vIBSUF       = 980.00 x 0.00 % = 0.00
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '811001: adjustment',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: { 'IBSCBS/valores/trib/gIBSCBS/CST': '811', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '811001' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.00
      pAliqEfetUF  = 0.00
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.00
      pAliqEfetCBS = 0.00
      vIBSUF       = 980.00 x 0.00 % = 0.00
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 1000.00
    `,
  },
  {
    nome: '820009: taxed in another document',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: {
      'valores/vDescCondIncond/vDescCond': '30.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'IBSCBS/valores/trib/gIBSCBS/CST': '820',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '820009',
    },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 5.00
      vISSQN       = 1000.00 x 5.00 % = 50.00
      vTotalRet    = 50.00
      vLiq         = 1000.00 - 30.00 - 50.00 = 920.00
      IBSCBS/vBC   = 1000.00 - 50.00 = 950.00
      pIBSUF       = 0.00
      pAliqEfetUF  = 0.00
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.00
      pAliqEfetCBS = 0.00
      vIBSUF       = 950.00 x 0.00 % = 0.00
      vIBSMun      = 950.00 x 0.00 % = 0.00
      vCBS         = 950.00 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 920.00
    `,
  },
  {
    nome: '410005: public supplier, after the test year: PIS and COFINS stay in the base',
    fonte: 'nfse-layout 7.1, E1555',
    dps: {
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '0',
      'IBSCBS/valores/trib/gIBSCBS/CST': '410',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '410005',
      dCompet: '2027-01-05',
    },
    fatos: { hoje: '2027-01-05' },
    conta: `
      vBC          = 1000.00
      pAliqAplic   = 2.00
      vISSQN       = 1000.00 x 2.00 % = 20.00
      vTotalRet    = 0.00
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00 - 20.00 = 980.00
      pIBSUF       = 0.00
      pAliqEfetUF  = 0.00
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.00
      pAliqEfetCBS = 0.00
      vIBSUF       = 980.00 x 0.00 % = 0.00
      vIBSMun      = 980.00 x 0.00 % = 0.00
      vCBS         = 980.00 x 0.00 % = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 1000.00 + 0.00 + 0.00 = 1000.00
    `,
  },
  {
    nome: 'deferral with a reduction: all of it deferred, nothing due',
    fonte: 'nfse-layout 7.3, 7.4 (515)',
    dps: {
      'IBSCBS/valores/trib/gIBSCBS/CST': '515',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '515001',
      'IBSCBS/valores/trib/gIBSCBS/gDif/pDifUF': '100.00',
      'IBSCBS/valores/trib/gIBSCBS/gDif/pDifMun': '100.00',
      'IBSCBS/valores/trib/gIBSCBS/gDif/pDifCBS': '100.00',
    },
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
      vDifUF       = 980.00 x 0.04 % = 0.392 ≈ 0.39
      vIBSUF       = 0.00
      vDifMun      = 980.00 x 0.00 % = 0.00
      vIBSMun      = 0.00
      vDifCBS      = 980.00 x 0.36 % = 3.528 ≈ 3.53
      vCBS         = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 1000.00
    `,
  },
  {
    nome: 'deferral, half a cent',
    fonte: 'nfse-layout 7.3 to 7.5',
    dps: {
      'valores/vServPrest/vServ': '12.50',
      'valores/trib/tribMun/pAliq': null,
      'IBSCBS/valores/trib/gIBSCBS/CST': '515',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '515001',
      'valores/trib/tribMun/exigSusp/tpSusp': '1',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
      'IBSCBS/valores/trib/gIBSCBS/gDif/pDifUF': '100.00',
      'IBSCBS/valores/trib/gIBSCBS/gDif/pDifMun': '100.00',
      'IBSCBS/valores/trib/gIBSCBS/gDif/pDifCBS': '100.00',
    },
    conta: `
      vLiq         = 12.50
      IBSCBS/vBC   = 12.50
      pIBSUF       = 0.10
      pRedAliqUF   = 60.00
      pAliqEfetUF  = 0.10 x (1 - 60.00 %) = 0.04
      pIBSMun      = 0.00
      pRedAliqMun  = 60.00
      pAliqEfetMun = 0.00 x (1 - 60.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 60.00
      pAliqEfetCBS = 0.90 x (1 - 60.00 %) = 0.36
      vDifUF       = 12.50 x 0.04 % = 0.005 ≈ 0.01
      vIBSUF       = 0.00
      vDifMun      = 12.50 x 0.00 % = 0.00
      vIBSMun      = 0.00
      vDifCBS      = 12.50 x 0.36 % = 0.045 ≈ 0.05
      vCBS         = 0.00
      vIBSTot      = 0.00 + 0.00 = 0.00
      vTotNF       = 12.50
    `,
  },
  {
    nome: 'suspension: what would be due without it, in full',
    fonte: 'nfse-layout 7.3, 7.4 (550)',
    dps: {
      'IBSCBS/valores/trib/gIBSCBS/CST': '550',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '550016',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/CSTReg': '000',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/cClassTribReg': '000001',
    },
    conta: `
      vBC               = 1000.00
      pAliqAplic        = 2.00
      vISSQN            = 1000.00 x 2.00 % = 20.00
      vTotalRet         = 0.00
      vLiq              = 1000.00
      IBSCBS/vBC        = 1000.00 - 20.00 = 980.00
      pIBSUF            = 0.00
      pAliqEfetUF       = 0.00
      pIBSMun           = 0.00
      pAliqEfetMun      = 0.00
      pCBS              = 0.00
      pAliqEfetCBS      = 0.00
      vIBSUF            = 980.00 x 0.00 % = 0.00
      vIBSMun           = 980.00 x 0.00 % = 0.00
      vCBS              = 980.00 x 0.00 % = 0.00
      vIBSTot           = 0.00 + 0.00 = 0.00
      pAliqEfeRegIBSUF  = 0.10
      vTribRegIBSUF     = 980.00 x 0.10 % = 0.98
      pAliqEfeRegIBSMun = 0.00
      vTribRegIBSMun    = 980.00 x 0.00 % = 0.00
      pAliqEfeRegCBS    = 0.90
      vTribRegCBS       = 980.00 x 0.90 % = 8.82
      vTotNF            = 1000.00
    `,
  },
  {
    nome: 'suspension: what would be due without it, with a reduction of 30 %',
    fonte: 'nfse-layout 7.3, 7.4 (550)',
    dps: {
      'valores/trib/tribMun/pAliq': '5.00',
      'IBSCBS/valores/trib/gIBSCBS/CST': '550',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '550016',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/CSTReg': '200',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/cClassTribReg': '200052',
    },
    conta: `
      vBC               = 1000.00
      pAliqAplic        = 5.00
      vISSQN            = 1000.00 x 5.00 % = 50.00
      vTotalRet         = 0.00
      vLiq              = 1000.00
      IBSCBS/vBC        = 1000.00 - 50.00 = 950.00
      pIBSUF            = 0.00
      pAliqEfetUF       = 0.00
      pIBSMun           = 0.00
      pAliqEfetMun      = 0.00
      pCBS              = 0.00
      pAliqEfetCBS      = 0.00
      vIBSUF            = 950.00 x 0.00 % = 0.00
      vIBSMun           = 950.00 x 0.00 % = 0.00
      vCBS              = 950.00 x 0.00 % = 0.00
      vIBSTot           = 0.00 + 0.00 = 0.00
      pAliqEfeRegIBSUF  = 0.10 x (1 - 30.00 %) = 0.07
      vTribRegIBSUF     = 950.00 x 0.07 % = 0.665 ≈ 0.67
      pAliqEfeRegIBSMun = 0.00 x (1 - 30.00 %) = 0.00
      vTribRegIBSMun    = 950.00 x 0.00 % = 0.00
      pAliqEfeRegCBS    = 0.90 x (1 - 30.00 %) = 0.63
      vTribRegCBS       = 950.00 x 0.63 % = 5.985 ≈ 5.99
      vTotNF            = 1000.00
    `,
  },
  {
    nome: 'suspension: what would be due without it, with different reductions',
    fonte: 'nfse-layout 7.3, 7.4 (550)',
    dps: {
      'valores/vServPrest/vServ': '1234.56',
      'valores/trib/tribMun/pAliq': '5.00',
      'IBSCBS/valores/trib/gIBSCBS/CST': '550',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '550022',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/CSTReg': '200',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/cClassTribReg': '200025',
    },
    conta: `
      vBC               = 1234.56
      pAliqAplic        = 5.00
      vISSQN            = 1234.56 x 5.00 % = 61.728 ≈ 61.73
      vTotalRet         = 0.00
      vLiq              = 1234.56
      IBSCBS/vBC        = 1234.56 - 61.73 = 1172.83
      pIBSUF            = 0.00
      pAliqEfetUF       = 0.00
      pIBSMun           = 0.00
      pAliqEfetMun      = 0.00
      pCBS              = 0.00
      pAliqEfetCBS      = 0.00
      vIBSUF            = 1172.83 x 0.00 % = 0.00
      vIBSMun           = 1172.83 x 0.00 % = 0.00
      vCBS              = 1172.83 x 0.00 % = 0.00
      vIBSTot           = 0.00 + 0.00 = 0.00
      pAliqEfeRegIBSUF  = 0.10 x (1 - 60.00 %) = 0.04
      vTribRegIBSUF     = 1172.83 x 0.04 % = 0.469132 ≈ 0.47
      pAliqEfeRegIBSMun = 0.00 x (1 - 60.00 %) = 0.00
      vTribRegIBSMun    = 1172.83 x 0.00 % = 0.00
      pAliqEfeRegCBS    = 0.90 x (1 - 100.00 %) = 0.00
      vTribRegCBS       = 1172.83 x 0.00 % = 0.00
      vTotNF            = 1234.56
    `,
  },
  {
    nome: 'government purchase: no reduction in the test year',
    fonte: 'nfse-layout 7 (pRedutor), 7.3 (gTribCompraGov)',
    dps: { 'IBSCBS/tpOper': '5', 'IBSCBS/tpEnteGov': '1' },
    conta: `
      vBC                    = 1000.00
      pAliqAplic             = 2.00
      vISSQN                 = 1000.00 x 2.00 % = 20.00
      vTotalRet              = 0.00
      vLiq                   = 1000.00
      IBSCBS/vBC             = 1000.00 - 20.00 = 980.00
      pRedutor               = 0.00
      pIBSUF                 = 0.10
      pAliqEfetUF            = 0.10 x (1 - 0.00 %) = 0.10
      pIBSMun                = 0.00
      pAliqEfetMun           = 0.00 x (1 - 0.00 %) = 0.00
      pCBS                   = 0.90
      pAliqEfetCBS           = 0.90 x (1 - 0.00 %) = 0.90
      vIBSUF                 = 980.00 x 0.10 % = 0.98
      vIBSMun                = 980.00 x 0.00 % = 0.00
      vCBS                   = 980.00 x 0.90 % = 8.82
      vIBSTot                = 0.98 + 0.00 = 0.98
      gTribCompraGov/pIBSUF  = 0.10
      gTribCompraGov/vIBSUF  = 0.98
      gTribCompraGov/pIBSMun = 0.00
      gTribCompraGov/vIBSMun = 0.00
      gTribCompraGov/pCBS    = 0.90
      gTribCompraGov/vCBS    = 8.82
      vTotNF                 = 1000.00
    `,
  },
  {
    nome: 'government purchase by a municipality, with a reduction of 60 %',
    fonte: 'nfse-layout 7 (pRedutor), 7.3 (gTribCompraGov)',
    dps: {
      'valores/vServPrest/vServ': '500.00',
      'valores/vDescCondIncond/vDescIncond': '25.00',
      'valores/trib/tribMun/pAliq': '3.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200040',
      'IBSCBS/tpOper': '5',
      'IBSCBS/tpEnteGov': '4',
    },
    conta: `
      vBC                    = 500.00 - 25.00 = 475.00
      pAliqAplic             = 3.00
      vISSQN                 = 475.00 x 3.00 % = 14.25
      vTotalRet              = 14.25
      vLiq                   = 500.00 - 25.00 - 14.25 = 460.75
      IBSCBS/vBC             = 500.00 - 25.00 - 14.25 = 460.75
      pRedutor               = 0.00
      pIBSUF                 = 0.10
      pRedAliqUF             = 60.00
      pAliqEfetUF            = 0.10 x (1 - 60.00 %) x (1 - 0.00 %) = 0.04
      pIBSMun                = 0.00
      pRedAliqMun            = 60.00
      pAliqEfetMun           = 0.00 x (1 - 60.00 %) x (1 - 0.00 %) = 0.00
      pCBS                   = 0.90
      pRedAliqCBS            = 60.00
      pAliqEfetCBS           = 0.90 x (1 - 60.00 %) x (1 - 0.00 %) = 0.36
      vIBSUF                 = 460.75 x 0.04 % = 0.1843 ≈ 0.18
      vIBSMun                = 460.75 x 0.00 % = 0.00
      vCBS                   = 460.75 x 0.36 % = 1.6587 ≈ 1.66
      vIBSTot                = 0.18 + 0.00 = 0.18
      gTribCompraGov/pIBSUF  = 0.04
      gTribCompraGov/vIBSUF  = 0.18
      gTribCompraGov/pIBSMun = 0.00
      gTribCompraGov/vIBSMun = 0.00
      gTribCompraGov/pCBS    = 0.36
      gTribCompraGov/vCBS    = 1.66
      vTotNF                 = 460.75
    `,
  },
  {
    nome: 'special regime: no ISSQN leaves the base',
    fonte: 'nfse-layout 7.1',
    dps: {
      'valores/trib/tribMun/pAliq': null,
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200052',
      'prest/regTrib/regEspTrib': '6',
    },
    conta: `
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00
      pIBSUF       = 0.10
      pRedAliqUF   = 30.00
      pAliqEfetUF  = 0.10 x (1 - 30.00 %) = 0.07
      pIBSMun      = 0.00
      pRedAliqMun  = 30.00
      pAliqEfetMun = 0.00 x (1 - 30.00 %) = 0.00
      pCBS         = 0.90
      pRedAliqCBS  = 30.00
      pAliqEfetCBS = 0.90 x (1 - 30.00 %) = 0.63
      vIBSUF       = 1000.00 x 0.07 % = 0.70
      vIBSMun      = 1000.00 x 0.00 % = 0.00
      vCBS         = 1000.00 x 0.63 % = 6.30
      vIBSTot      = 0.70 + 0.00 = 0.70
      vTotNF       = 1000.00
    `,
  },
  {
    nome: 'MEI with the group: no ISSQN leaves the base',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/vServPrest/vServ': '350.00', 'valores/trib/tribMun/pAliq': null, 'prest/regTrib/opSimpNac': '2' },
    fatos: { simples: [{ inicio: '2020-01-01', fim: undefined }], regrasNacionais: 'avisa' },
    conta: `
      vLiq         = 350.00
      IBSCBS/vBC   = 350.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 350.00 x 0.10 % = 0.35
      vIBSMun      = 350.00 x 0.00 % = 0.00
      vCBS         = 350.00 x 0.90 % = 3.15
      vIBSTot      = 0.35 + 0.00 = 0.35
      vTotNF       = 350.00
    `,
  },
  {
    nome: 'Simples Nacional before 2027: no group, none on the note',
    fonte: 'specification, schedule',
    dps: {
      ...SEM_GRUPO,
      'valores/trib/tribMun/pAliq': '2.79',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '1',
    },
    fatos: { simples: [{ inicio: '2020-01-01', fim: undefined }] },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.79
      vISSQN     = 1000.00 x 2.79 % = 27.90
      vTotalRet  = 27.90
      vLiq       = 1000.00 - 27.90 = 972.10
    `,
  },
  {
    nome: 'segment due in December: no group in November, none on the note',
    fonte: 'specification, schedule',
    dps: { ...SEM_GRUPO, 'valores/trib/tribMun/pAliq': '3.00', dCompet: '2026-11-20', 'serv/cServ/cTribNac': '010301' },
    fatos: { hoje: '2026-11-21' },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 3.00
      vISSQN     = 1000.00 x 3.00 % = 30.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
];
