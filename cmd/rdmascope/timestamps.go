package main

import "rdmascope/analysis"

// clockMode says whose times are used, and who decided it.
func clockMode(flag, configPath string) (mode analysis.ClockMode, from string, err error) {
	s, err := settingOf("timestamps", flag, configPath)
	if err != nil {
		return 0, "", err
	}
	if s.text == "" {
		return analysis.ClockAuto, "default", nil
	}
	if mode, err = analysis.ParseClockMode(s.text); err != nil {
		return 0, "", exitf(exitUsage, "%s: %v", s.name(), err) // which quotes the text
	}
	return mode, s.from, nil
}

// stamped gives the packets of src the times that were asked for.
func (f *inputFlags) stamped(src analysis.Source, configPath string) (analysis.Source, error) {
	mode, _, err := clockMode(f.timestamps, configPath)
	if err != nil {
		return nil, err
	}
	return analysis.Stamped(src, f.decodeConfig(), mode), nil
}
