#include "lissom/core/units.hpp"

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace lissom::units_test {
namespace {

TEST(Units, EverySystemGivesSteelInSi) {
  // 210 GPa and 7850 kg/m3 as handbooks print them for each system; pounds are given with four digits, so
  // that three remain after rounding
  struct Steel {
    const char* system;
    double E, rho, tolerance;
  };
  for (const Steel& steel : {Steel{"SI", 210e9, 7850, 1e-14}, Steel{"m-kg-s", 210e9, 7850, 1e-14},
                             Steel{"mm-t-s", 210e3, 7.85e-9, 1e-14}, Steel{"mm-kg-ms", 210, 7.85e-6, 1e-14},
                             Steel{"mm-g-ms", 210e3, 7.85e-3, 1e-14}, Steel{"mm-kg-s", 210e6, 7.85e-6, 1e-14},
                             Steel{"cm-g-s", 2.1e12, 7.85, 1e-14}, Steel{"in-lbf-s", 30.46e6, 7.345e-4, 1e-3},
                             Steel{"ft-lbf-s", 4.386e9, 15.23, 1e-3}}) {
    const UnitSystem units = parse_unit_system(steel.system);
    EXPECT_NEAR(steel.E * units.stress() / 210e9, 1, steel.tolerance) << steel.system;
    EXPECT_NEAR(steel.rho * units.density() / 7850, 1, steel.tolerance) << steel.system;
  }
}

TEST(Units, FrequenciesComeOutTheSameInEverySystem) {
  // sqrt(stiffness/mass) has the unit of a frequency whatever the two degrees of freedom are; rounding only
  for (const UnitSystem& units : unit_systems())
    for (int rotations : {0, 1, 2})
      EXPECT_NEAR(std::sqrt(units.stiffness(rotations) / units.mass_entry(rotations)) / units.frequency(), 1,
                  1e-15)
          << units.name;
}

TEST(Units, EntriesOfRotationsBringALengthEach) {
  const UnitSystem mm = parse_unit_system("MM-T-S");
  EXPECT_DOUBLE_EQ(mm.stiffness(0), 1e3);   // N/mm
  EXPECT_DOUBLE_EQ(mm.stiffness(1), 1);     // N
  EXPECT_DOUBLE_EQ(mm.stiffness(2), 1e-3);  // N mm
  EXPECT_DOUBLE_EQ(mm.mass_entry(0), 1e3);
  EXPECT_DOUBLE_EQ(mm.mass_entry(2), 1e-3);
  EXPECT_DOUBLE_EQ(mm.force(), 1);
}

TEST(Units, AMisspeltSystemFindsWhatWasMeant) {
  EXPECT_EQ(
      message_of<InputError>([] { parse_unit_system("mm-to-s"); }),
      "unknown unit system 'mm-to-s' (did you mean 'mm-t-s'?); known are SI, mm-t-s, mm-kg-ms, mm-g-ms, "
      "mm-kg-s, cm-g-s, in-lbf-s, ft-lbf-s");
  EXPECT_EQ(message_of<InputError>([] { parse_unit_system("furlongs"); }).substr(0, 41),
            "unknown unit system 'furlongs'; known are");
}

}  // namespace
}  // namespace lissom::units_test
